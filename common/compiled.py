"""Queries that are asked many times a second with other ids, compiled to SQL once.

Django writes the SQL of a queryset anew whenever it is evaluated. For a row with its relations that takes three times
as long as PostgreSQL's answer and the making of the objects together.
"""

from collections.abc import Callable, Sequence
from copy import copy
from types import SimpleNamespace
from typing import Any, Generic, TypeVar

from django.db import connections
from django.db.models import Model, QuerySet
from django.db.models.query import ModelIterable

M = TypeVar("M", bound=Model)

# Values to be found again among the parameters of the compiled query; every integer field admits them.
_PLACES: dict[type, tuple[Any, ...]] = {
    int: tuple(2_147_000_111 + place for place in range(4)),
    str: tuple(f"the value of place {place}" for place in range(4)),
}


class Compiled(Generic[M]):
    """`Compiled(lambda pk: Book.objects.select_related("author").filter(pk=pk), int)(7)`: the books, as a list.

    build: from one value of each of `kinds` (int or str) to a queryset without prefetch_related. It is called once per
        process, so whatever else it reads, a setting or the time, stays as it was then.
    """

    def __init__(self, build: Callable[..., QuerySet[M]], *kinds: type[int] | type[str]) -> None:
        self._build, self._kinds = build, kinds
        self._plan: _Plan | None = None

    def __call__(self, *values: int | str) -> list[M]:
        if self._plan is None:  # two threads may both do it: the same comes out
            self._plan = self._compile()
        return self._plan.run(values)

    def _compile(self) -> "_Plan":
        places = [_PLACES[kind][place] for place, kind in enumerate(self._kinds)]
        return _Plan(self._build(*places), places)


class _Plan:
    def __init__(self, queryset: QuerySet[Any], places: list[int | str]) -> None:
        self._db = queryset.db
        self._compiler = queryset.query.get_compiler(self._db)
        self._sql, parameters = self._compiler.as_sql()
        self._parameters = list(parameters)
        # (place of a parameter, place of the value it takes, its type: psycopg has ints that know the column's width)
        self._slots = [
            (number, places.index(parameter), type(parameter))
            for number, parameter in enumerate(self._parameters)
            if isinstance(parameter, int | str) and parameter in places
        ]
        if {value for _, value, _ in self._slots} != set(range(len(places))):
            raise TypeError(f"{queryset.model.__name__}: a value was changed on its way to a parameter")

    def run(self, values: tuple[int | str, ...]) -> list[Any]:
        parameters = self._parameters.copy()
        for number, value, as_sent in self._slots:
            parameters[number] = as_sent(values[value])
        compiler = copy(self._compiler)
        compiler.connection = connections[self._db]  # this thread's
        compiler.as_sql = lambda *_, **__: (self._sql, tuple(parameters))
        # What ModelIterable asks of a queryset.
        query = SimpleNamespace(get_compiler=lambda using: compiler)
        asked: Any = SimpleNamespace(db=self._db, query=query, _known_related_objects={})
        return list(ModelIterable(asked))


def fill_related(instance: Model, name: str, rows: Sequence[Model]) -> None:
    """Leave `rows` as prefetch_related leaves what it found: `instance.<name>.all()` asks nothing."""
    manager = getattr(instance, name)
    related = manager.all()
    related._result_cache, related._prefetch_done = list(rows), True
    instance.__dict__.setdefault("_prefetched_objects_cache", {})[name] = related
    for row in rows:
        manager.field.set_cached_value(row, instance)
