from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest


class OfSiteForModerators(admin.ModelAdmin):  # type: ignore[type-arg]
    """Leave out rows of teams, except for administrators."""

    of_site: ClassVar[Q]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request)
        return rows if request.user.is_superuser else rows.filter(self.of_site)
