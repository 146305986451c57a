"""Periodic rounds over the queues, cheap where nothing is due."""

from collections.abc import Callable
from typing import NamedTuple, cast

from django.db import connection
from django.db.backends.postgresql.operations import DatabaseOperations
from django.db.models import Model, QuerySet


class Step(NamedTuple):
    """`due` are the rows that `run` works on. With a limit, it must be ordered by an index."""

    due: Callable[[], QuerySet[Model]]
    run: Callable[[], None]


class Sweep:
    """Callable that runs the first step with work and all after it: one's outcome may be the next one's work."""

    def __init__(self, *steps: Step) -> None:
        self._steps = steps
        self._sql = ""

    def __call__(self) -> None:
        has_work = False
        for step, is_due in zip(self._steps, self._are_due(), strict=True):
            has_work = has_work or is_due
            if has_work:
                step.run()

    def _are_due(self) -> tuple[bool, ...]:
        self._sql = self._sql or self._compile()
        with connection.cursor() as cursor:
            cursor.execute(self._sql)
            is_due: tuple[bool, ...] = cursor.fetchone()
        return is_due

    def _compile(self) -> str:
        # No parameters, so that PostgreSQL keeps a plan with partial indexes. It counts, because for EXISTS a scan
        # of the whole table may look cheaper than an index.
        columns: list[str] = []
        parameters: list[object] = []
        for step in self._steps:
            query = step.due().values("pk").query
            query.clear_ordering()  # except of limited ones
            due, values = query.sql_with_params()
            columns.append(f"(SELECT count(*) > 0 FROM ({due}) AS due)")  # noqa: S608 (values are parameters)
            parameters += values
        operations = cast(DatabaseOperations, connection.ops)
        sql: str = operations.compose_sql(f"SELECT {', '.join(columns)}", parameters)
        return sql
