from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from benchmarks import actions
from benchmarks.models import Run
from common.admin.read_only import ReadOnlyAdmin


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin):
    """Runs without their questions and answers, which are their members'."""

    list_display = ["public_id", "owner", "state", "reason", "item_count", "spent", "budget", "created_at"]
    list_select_related = ["owner"]
    list_filter = ["state"]
    search_fields = ["public_id", "owner__email"]
    fields = [
        "public_id", "owner", "state", "reason", "entrant_count", "item_count", "repeats", "concurrency", "attempts",
        "is_paid", "budget", "reserved", "spent", "created_at", "started_at", "finished_at", "published_at",
    ]  # fmt: skip
    actions = ["pause_runs"]

    def has_pause_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm("benchmarks.change_run"))

    @admin.action(description=_("Pause selected runs"), permissions=["pause"])
    def pause_runs(self, request: HttpRequest, queryset: QuerySet[Run]) -> None:
        paused = actions.pause_runs(queryset, by=request.user)  # type: ignore[arg-type]
        sentence = ngettext("%(n)d run is paused now.", "%(n)d runs are paused now.", paused)
        messages.success(request, sentence % {"n": paused})
