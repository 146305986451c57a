from typing import cast

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from accounts.models import User
from common.admin.read_only import ReadOnlyAdmin
from models_registry.catalogue import changes
from models_registry.models import CatalogueChange


@admin.register(CatalogueChange)
class CatalogueChangeAdmin(ReadOnlyAdmin):
    list_display = ["model", "kind", "summary", "found_at", "state", "decided_by"]
    list_select_related = ["model", "decided_by"]
    list_filter = ["state", "kind", "model__provider"]
    search_fields = ["model__name", "model__slug", "model__upstream_name"]
    fields = ["model", "kind", "summary", "found_at", "state", "decided_at", "decided_by"]
    actions = ["accept", "dismiss"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[CatalogueChange]:
        return CatalogueChange.objects.of_site()

    def has_decide_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("models_registry.change_languagemodel")

    @admin.display(description=_("what the provider says now"))
    def summary(self, change: CatalogueChange) -> str:
        return change.summary

    @admin.action(description=_("Accept: change the models accordingly"), permissions=["decide"])
    def accept(self, request: HttpRequest, queryset: QuerySet[CatalogueChange]) -> None:
        waiting = queryset.waiting().select_related("model")  # type: ignore[attr-defined]
        n = sum(changes.accept(change, by=_user(request)) for change in waiting)
        messages.success(request, ngettext("%(n)d change was made.", "%(n)d changes were made.", n) % {"n": n})

    @admin.action(description=_("Dismiss: leave the models as they are"), permissions=["decide"])
    def dismiss(self, request: HttpRequest, queryset: QuerySet[CatalogueChange]) -> None:
        waiting = queryset.waiting().select_related("model")  # type: ignore[attr-defined]
        n = sum(changes.dismiss(change, by=_user(request)) for change in waiting)
        messages.success(
            request, ngettext("%(n)d change was dismissed.", "%(n)d changes were dismissed.", n) % {"n": n}
        )


def _user(request: HttpRequest) -> User:
    return cast(User, request.user)
