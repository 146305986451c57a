from typing import ClassVar

from django.contrib import admin
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest


class OfSiteForModerators(admin.ModelAdmin):  # type: ignore[type-arg]
    """Leave out rows of teams, except for administrators."""

    of_site: ClassVar[Q]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Model]:
        rows: QuerySet[Model] = super().get_queryset(request)
        is_administrator = request.user.is_authenticated and request.user.is_administrator
        return rows if is_administrator else rows.filter(self.of_site)
