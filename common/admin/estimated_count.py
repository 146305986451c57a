import json
import math
from functools import cached_property
from typing import Any, cast

from django.contrib import admin
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db import connection
from django.db.models import Model, QuerySet
from django.http import HttpRequest

# Longer lists show the planner's estimate instead of a count.
MAX_EXACT_COUNT = 10_000


class EstimatingPaginator(Paginator):  # type: ignore[type-arg]
    @cached_property
    def count(self) -> int:
        rows = cast("QuerySet[Model]", self.object_list).order_by()
        counted = rows[: MAX_EXACT_COUNT + 1].count()
        return counted if counted <= MAX_EXACT_COUNT else max(_estimate(rows), counted)

    @cached_property
    def num_pages(self) -> int:
        # A page's OFFSET makes PostgreSQL read all rows before it; older rows are found by filters and searches.
        return min(super().num_pages, math.ceil(MAX_EXACT_COUNT / self.per_page))


def _estimate(rows: QuerySet[Model]) -> int:
    """Return the planner's row estimate, within a few per cent on analysed tables."""
    sql, params = rows.query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (FORMAT JSON) {sql}", params)
        plan = cursor.fetchone()[0]
    return int((json.loads(plan) if isinstance(plan, str) else plan)[0]["Plan"]["Plan Rows"])


class EstimatedCountAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Admin lists that stay fast with millions of rows.

    Each of `search_fields` is searched exactly and by its own index; one OR over several tables would scan them all.
    """

    paginator = EstimatingPaginator
    show_full_result_count = False

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Model], search_term: str
    ) -> tuple[QuerySet[Model], bool]:
        words = search_term.strip()
        if not words:
            return queryset, False
        matches = [rows for field in self.search_fields if (rows := self._matching(str(field), words)) is not None]
        return queryset.filter(pk__in=matches[0].union(*matches[1:])) if matches else queryset.none(), False

    def _matching(self, field: str, words: str) -> "QuerySet[Model, Any] | None":
        """Return the keys of matching rows; None if the field cannot equal `words` (text for a number)."""
        if field.endswith("email"):
            if "@" not in words:
                return None
            words = words.lower()  # as they are stored
        try:
            everything: QuerySet[Model] = self.model._default_manager.all()
            return everything.filter(**{field: words}).order_by().values("pk")
        except (ValueError, ValidationError):
            return None
