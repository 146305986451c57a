from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.db import transaction
from django.db.models import Model, QuerySet
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse
from django.utils.text import camel_case_to_spaces

from accounts import audit

if TYPE_CHECKING:
    AnyForm = ModelForm[Any]


class AuditDeletionsMixin(admin.ModelAdmin):  # type: ignore[type-arg]
    def subject_of(self, row: Model) -> str:
        """Return the entry's subject; e-mail addresses would outlive the account there."""
        return str(row)

    def response_action(self, *args: Any, **kwargs: Any) -> HttpResponse | None:
        """Run a bulk action and its audit entries in one transaction."""
        with transaction.atomic():
            return super().response_action(*args, **kwargs)

    def log_deletions(self, request: HttpRequest, queryset: QuerySet[Model]) -> list[LogEntry]:
        for row in queryset:
            self.record(request, "delete", row)
        return super().log_deletions(request, queryset)

    def record(self, request: HttpRequest, verb: str, row: Model, **details: object) -> None:
        action = f"{verb} {camel_case_to_spaces(self.model.__name__)}"
        audit.record(request.user, action, self.subject_of(row), **details)  # type: ignore[arg-type]


class AuditedAdmin(AuditDeletionsMixin):
    """Write an audit entry for each added, changed or deleted object."""

    def state_of(self, row: Any) -> dict[str, object]:
        return {}

    def details_of(self, form: "AnyForm") -> dict[str, object]:
        """Return the details of the entry about the saved form."""
        return self.state_of(form.instance)

    def save_related(self, request: HttpRequest, form: "AnyForm", formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        self.record(request, "change" if change else "add", form.instance, **self.details_of(form))
