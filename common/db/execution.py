import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import ParamSpec, TypeVar

from django.db import (
    IntegrityError,
    InterfaceError,
    OperationalError,
    ProgrammingError,
    connection,
    connections,
    transaction,
)
from django.db.models import Model, QuerySet
from psycopg.errors import UndefinedTable

logger = logging.getLogger(__name__)

CONNECTION_ERRORS = (OperationalError, InterfaceError)
RETRY_TIMEOUT_S = 60.0
RETRY_PAUSE_S = 0.5
_found_tables: set[str] = set()

P = ParamSpec("P")
T = TypeVar("T")
M = TypeVar("M", bound=Model)


@contextmanager
def one_snapshot() -> Iterator[None]:
    """Run the queries inside in one read-only REPEATABLE READ transaction.

    No effect inside a transaction, where the isolation level is already fixed.
    """
    if connection.in_atomic_block:
        yield
        return
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield


def violates(error: IntegrityError, *constraints: str) -> bool:
    diagnostics = getattr(error.__cause__, "diag", None)
    return getattr(diagnostics, "constraint_name", None) in constraints


def rows_if_migrated(rows: QuerySet[M]) -> list[M]:
    """Return [] while the table does not exist: new code serves before its migrations."""
    try:
        with transaction.atomic():  # a failed query would break the transaction around it
            return list(rows)
    except ProgrammingError as error:
        if not isinstance(error.__cause__, UndefinedTable):
            raise
        return []


def is_migrated(model: type[Model]) -> bool:
    """Return whether the model's table exists, as rows_if_migrated."""
    table = model._meta.db_table
    if table not in _found_tables:
        with connection.cursor() as cursor:
            cursor.execute("SELECT to_regclass(%s) IS NOT NULL", [table])
            if not cursor.fetchone()[0]:
                return False
        _found_tables.add(table)
    return True


async def run_in_db(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run `work` in a thread and return its connections to the pools: waiting for a model must not hold one."""
    return await asyncio.to_thread(run_and_release, partial(work, *args, **kwargs))


def run_and_release(work: Callable[[], T]) -> T:
    """Run `work` and return this thread's connections to their pools."""
    try:
        return work()
    finally:
        connections.close_all()


async def run_in_db_with_retry(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Like run_in_db, but retry connection errors for up to RETRY_TIMEOUT_S.

    `work` must be idempotent: when the reply to a COMMIT is lost, it runs again although it may have committed.
    """
    return await with_retry(partial(run_in_db, work, *args, **kwargs), name=getattr(work, "__name__", str(work)))


async def with_retry(attempt: Callable[[], Awaitable[T]], *, name: str) -> T:
    deadline = time.monotonic() + RETRY_TIMEOUT_S
    while True:
        try:
            return await attempt()
        except CONNECTION_ERRORS as error:
            if time.monotonic() >= deadline:
                raise
            logger.warning("%s waits for the database (%s)", name, str(error).strip())
            await asyncio.sleep(RETRY_PAUSE_S)
