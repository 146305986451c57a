"""Querysets compiled to SQL once per process, for queries that run many times a second.

Compiling a row with its relations takes three times as long as PostgreSQL's reply and the objects: docs/adr/0026.
"""

from collections.abc import Callable, Sequence
from copy import copy
from types import SimpleNamespace
from typing import Any, Generic, TypeVar

from django.contrib.postgres.fields import ArrayField
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import BigIntegerField, BooleanField, F, Func, Model, QuerySet, Value
from django.db.models.query import ModelIterable

M = TypeVar("M", bound=Model)

# Sentinels, found again among the parameters of the compiled query; every integer field accepts these integers.
_SENTINELS: dict[type, tuple[Any, ...]] = {
    int: tuple(2_147_000_111 + number for number in range(4)),
    str: tuple(f"the value of place {number}" for number in range(4)),
    list: tuple([2_147_000_111 + number] for number in range(4)),
}
_Value = int | str | list[int]


def any_of(field: str, values: list[int]) -> Func:
    """Return the condition `field = ANY(values)`, whose SQL is equal for any number of values."""
    array = Value(values, output_field=ArrayField(BigIntegerField()))
    template, joiner = "%(expressions)s::bigint[])", " = ANY("
    return Func(F(field), array, template=template, arg_joiner=joiner, output_field=BooleanField())


class PreparedQuery(Generic[M]):
    """`PreparedQuery(lambda pk: Book.objects.select_related("author").filter(pk=pk), int)(7)` returns a list of books.

    build: from one value of each of `kinds` (int, str, or list for any_of) to a queryset without prefetch_related.
        It is called once per process: settings or a time that it reads stay as they were then.
    """

    def __init__(self, build: Callable[..., QuerySet[M]], *kinds: type[int] | type[str] | type[list[int]]) -> None:
        self._build, self._kinds = build, kinds
        self._compiled: _CompiledQuery | None = None

    def __call__(self, *values: _Value) -> list[M]:
        if self._compiled is None:  # two threads may both compile: the results are equal
            sentinels = [_SENTINELS[kind][number] for number, kind in enumerate(self._kinds)]
            self._compiled = _CompiledQuery(self._build(*sentinels), sentinels)
        return self._compiled.run(values)


class _CompiledQuery:
    def __init__(self, queryset: QuerySet[Any], sentinels: list[_Value]) -> None:
        self._db = DEFAULT_DB_ALIAS  # not that of the call which compiles it
        self._compiler = queryset.query.get_compiler(self._db)
        self._sql, parameters = self._compiler.as_sql()
        # Converters of each column, by position; Django looks for them at each evaluation.
        self._converters = self._compiler.get_converters([column[0] for column in self._compiler.select])
        self._parameters = list(parameters)
        # (index of a parameter, index of its value, its type: psycopg has integer types of a column's width)
        self._slots = [
            (number, sentinels.index(parameter), type(parameter))
            for number, parameter in enumerate(self._parameters)
            if isinstance(parameter, int | str | list) and parameter in sentinels
        ]
        if {value for _, value, _ in self._slots} != set(range(len(sentinels))):
            raise TypeError(f"{queryset.model.__name__}: a value was changed on its way to a parameter")

    def run(self, values: tuple[_Value, ...]) -> list[Any]:
        parameters = self._parameters.copy()
        for number, value, parameter_type in self._slots:
            parameters[number] = parameter_type(values[value])  # type: ignore[arg-type]
        compiler = copy(self._compiler)
        compiler.connection = connections[self._db]  # this thread's
        compiler.as_sql = lambda *_, **__: (self._sql, tuple(parameters))
        compiler.get_converters = lambda _columns: self._converters
        # The attributes of a queryset that ModelIterable reads.
        query = SimpleNamespace(get_compiler=lambda using: compiler)
        queryset: Any = SimpleNamespace(db=self._db, query=query, _known_related_objects={})
        return list(ModelIterable(queryset))


def set_prefetched(instance: Model, name: str, rows: Sequence[Model]) -> None:
    """Store `rows` as prefetch_related would: `instance.<name>.all()` then runs no query."""
    manager = getattr(instance, name)
    related = manager.all()
    related._result_cache, related._prefetch_done = list(rows), True
    instance.__dict__.setdefault("_prefetched_objects_cache", {})[name] = related
    for row in rows:
        manager.field.set_cached_value(row, instance)
