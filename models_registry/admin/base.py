from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import PROTECT, ForeignObjectRel, Model
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.text import camel_case_to_spaces
from django.utils.translation import gettext

from accounts import audit

# Fields of forms that have no value to be read.
_NOT_RECORDED = ("key", "remove_key", "make_version", "icon_file", "remove_icon")


class RegistryAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Audits each change. Rows that others refer to cannot be deleted."""

    @property
    def _model_name(self) -> str:
        """Return the model's name for the audit log, always in English."""
        return camel_case_to_spaces(self.model.__name__)

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

    def delete_model(self, request: HttpRequest, obj: Model) -> None:
        audit.record(request.user, f"delete {self._model_name}", obj)  # type: ignore[arg-type]
        super().delete_model(request, obj)

    def record_change(self, request: HttpRequest, form: "ModelForm[Any]", row: Any, *, change: bool) -> None:
        """Write old and new values; of a key only that it was entered or removed."""
        action = f"{'change' if change else 'add'} {self._model_name}"
        changed = {
            name: [str(form.initial.get(name, "")), str(form.cleaned_data[name])]
            for name in form.changed_data
            if name not in _NOT_RECORDED and form.initial.get(name) != form.cleaned_data[name]
        }
        if "key" in form.changed_data:
            changed["key"] = ["", f"entered ({row.key_fingerprint})"]
        elif "remove_key" in form.changed_data:
            changed["key"] = ["", "removed"]
        if "icon_file" in form.changed_data or "remove_icon" in form.changed_data:
            changed["icon"] = ["", "entered" if form.cleaned_data["icon_file"] else "removed"]
        audit.record(request.user, action, row, changed=changed)  # type: ignore[arg-type]


def _is_protected(row: Model) -> bool:
    """Return whether a foreign key with PROTECT refers to `row`."""
    return any(
        relation.related_model._base_manager.filter(**{relation.field.name: row}).exists()
        for relation in row._meta.get_fields(include_hidden=True)
        if isinstance(relation, ForeignObjectRel) and relation.on_delete is PROTECT
    )
