from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from common.admin.read_only import ReadOnlyAdmin
from reviews.models import DecisionReport
from reviews.reports import actions


@admin.register(DecisionReport)
class DecisionReportAdmin(ReadOnlyAdmin):
    """Reports without their numbers; the question of a published one is public."""

    list_display = ["public_id", "owner", "subject", "published_at", "publishes_names", "created_at"]
    list_select_related = ["owner"]
    list_filter = ["subject"]
    search_fields = ["public_id", "owner__email"]
    fields = ["public_id", "owner", "subject", "checksum", "created_at", "published_at", "publishes_names"]
    actions = ["withdraw"]

    def has_withdraw_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm("reviews.change_decisionreport"))

    @admin.action(description=_("Make selected reports private"), permissions=["withdraw"])
    def withdraw(self, request: HttpRequest, queryset: QuerySet[DecisionReport]) -> None:
        published = list(queryset.filter(published_at__isnull=False))
        for report in published:
            actions.withdraw_report(report, by=request.user)  # type: ignore[arg-type]
        sentence = ngettext("%(n)d report is private now.", "%(n)d reports are private now.", len(published))
        messages.success(request, sentence % {"n": len(published)})
