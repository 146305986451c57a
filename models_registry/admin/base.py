from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.contrib.admin import RelatedOnlyFieldListFilter
from django.core.exceptions import PermissionDenied
from django.db.models import PROTECT, ForeignObjectRel, Model
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext

from accounts.admin.audited import AuditedAdmin
from accounts.models import Team
from common.cache import TTLCached

if TYPE_CHECKING:
    from accounts.admin.audited import AnyForm

has_teams = TTLCached(Team.objects.exists, ttl_s=60, invalidated_by=(Team,))
# Fields of forms that have no value to be read.
_NOT_RECORDED = ("key", "remove_key", "make_version", "icon_file", "remove_icon")


class RegistryAdmin(AuditedAdmin):
    """Audits old and new values. Rows that others refer to cannot be deleted."""

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        actions = super().get_actions(request)
        actions.pop("delete_selected", None)  # its confirmation lists every related battle
        return actions

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        row = self.get_object(request, object_id)
        if not self.has_delete_permission(request, row):  # before a message reveals the row's name
            raise PermissionDenied
        if row is not None and _is_protected(row):
            sentence = gettext("“%(row)s” is in use and cannot be deleted. Pause or retire it instead.")
            messages.error(request, sentence % {"row": row})
            return HttpResponseRedirect("../change/")
        return super().delete_view(request, object_id, extra_context)

    def details_of(self, form: "AnyForm") -> dict[str, object]:
        """Return old and new values; of a key only that it was entered or removed."""
        changed = {
            name: [str(form.initial.get(name, "")), str(form.cleaned_data[name])]
            for name in form.changed_data
            if name not in _NOT_RECORDED and form.initial.get(name) != form.cleaned_data[name]
        }
        if "key" in form.changed_data:
            changed["key"] = ["", f"entered ({form.instance.key_fingerprint})"]
        elif "remove_key" in form.changed_data:
            changed["key"] = ["", "removed"]
        if "icon_file" in form.changed_data or "remove_icon" in form.changed_data:
            changed["icon"] = ["", "entered" if form.cleaned_data["icon_file"] else "removed"]
        return {"changed": changed}


class OwnersMixin(AuditedAdmin):
    """Rows of the site and of teams, which only a site with teams tells apart."""

    def get_list_display(self, request: HttpRequest) -> list[object]:  # type: ignore[override]
        shown = super().get_list_display(request)
        return [*shown, "team"] if has_teams() else list(shown)

    def get_list_filter(self, request: HttpRequest) -> list[object]:  # type: ignore[override]
        shown = super().get_list_filter(request)
        return [*shown, ("team", RelatedOnlyFieldListFilter)] if has_teams() else list(shown)


class OwnedAdmin(OwnersMixin, RegistryAdmin):
    """RegistryAdmin of rows of the site and of teams."""


def _is_protected(row: Model) -> bool:
    """Return whether a foreign key with PROTECT refers to `row`."""
    return any(
        relation.related_model._base_manager.filter(**{relation.field.name: row}).exists()
        for relation in row._meta.get_fields(include_hidden=True)
        if isinstance(relation, ForeignObjectRel) and relation.on_delete is PROTECT
    )
