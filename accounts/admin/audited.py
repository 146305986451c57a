from typing import Any

from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.text import camel_case_to_spaces

from accounts import audit


class AuditDeletionsMixin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Write an audit entry for each deleted object."""

    def subject_of(self, row: Model) -> str:
        """Return the entry's subject; e-mail addresses would outlive the account there."""
        return str(row)

    def response_action(self, *args: Any, **kwargs: Any) -> HttpResponse | None:
        """Run a bulk action and its audit entries in one transaction."""
        with transaction.atomic():
            return super().response_action(*args, **kwargs)

    def log_deletions(self, request: HttpRequest, queryset: QuerySet[Model]) -> list[LogEntry]:
        for row in queryset:
            self._record(request, "delete", row)
        return super().log_deletions(request, queryset)

    def _record(self, request: HttpRequest, verb: str, row: Model, **details: object) -> None:
        action = f"{verb} {camel_case_to_spaces(self.model.__name__)}"
        audit.record(request.user, action, self.subject_of(row), **details)  # type: ignore[arg-type]


class AuditChangesMixin(AuditDeletionsMixin):
    """Write an audit entry for each added, changed or deleted object."""

    def state_of(self, row: Any) -> dict[str, object]:
        return {}

    def log_addition(self, request: HttpRequest, obj: Model, message: object) -> LogEntry:
        self._record(request, "add", obj, **self.state_of(obj))
        return super().log_addition(request, obj, message)

    def log_change(self, request: HttpRequest, obj: Model, message: object) -> LogEntry:
        self._record(request, "change", obj, **self.state_of(obj))
        return super().log_change(request, obj, message)
