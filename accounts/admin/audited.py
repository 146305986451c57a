"""Pages of the administration on which whatever staff change is written down, also where Django's own would not."""

from typing import Any

from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.text import camel_case_to_spaces

from accounts import audit


class AuditDeletionsMixin(admin.ModelAdmin):  # type: ignore[type-arg]
    """What is deleted, one by one or many at once."""

    def subject_of(self, row: Model) -> str:
        """What the audit log calls it; no address, which would outlive its account there."""
        return str(row)

    def response_action(self, *args: Any, **kwargs: Any) -> HttpResponse | None:
        """What is done to many at once, and its entries, are there together or not at all."""
        with transaction.atomic():
            return super().response_action(*args, **kwargs)

    def log_deletions(self, request: HttpRequest, queryset: QuerySet[Model]) -> list[LogEntry]:
        for row in queryset:
            self._write_down(request, "delete", row)
        return super().log_deletions(request, queryset)

    def _write_down(self, request: HttpRequest, verb: str, row: Model, **details: object) -> None:
        action = f"{verb} {camel_case_to_spaces(self.model.__name__)}"
        audit.record(request.user, action, self.subject_of(row), **details)  # type: ignore[arg-type]


class AuditChangesMixin(AuditDeletionsMixin):
    """What is added and changed, too, with the state after it."""

    def state_of(self, row: Any) -> dict[str, object]:
        """For the entry's details."""
        return {}

    def log_addition(self, request: HttpRequest, obj: Model, message: object) -> LogEntry:
        self._write_down(request, "add", obj, **self.state_of(obj))
        return super().log_addition(request, obj, message)

    def log_change(self, request: HttpRequest, obj: Model, message: object) -> LogEntry:
        self._write_down(request, "change", obj, **self.state_of(obj))
        return super().log_change(request, obj, message)
