"""The database of reads: the primary, or its replica in a context that allows it (docs/adr/0079)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import ParamSpec, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.utils import CursorWrapper

P = ParamSpec("P")
T = TypeVar("T")

REPLICA = "replica"
_allows_replica: ContextVar[bool] = ContextVar("allows_replica", default=False)


@contextmanager
def replica_allowed(is_allowed: bool) -> Iterator[None]:
    token = _allows_replica.set(is_allowed)
    try:
        yield
    finally:
        _allows_replica.reset(token)


def reads_primary(read: Callable[P, T]) -> Callable[P, T]:
    """Let the function read the primary although its caller may read the replica."""

    @wraps(read)
    def reading(*args: P.args, **kwargs: P.kwargs) -> T:
        with replica_allowed(False):
            return read(*args, **kwargs)

    return reading


def alias() -> str:
    """Return the database for a read; within a transaction the primary, which has what it wrote."""
    if not _allows_replica.get() or connections[DEFAULT_DB_ALIAS].in_atomic_block:
        return DEFAULT_DB_ALIAS
    return REPLICA


def read_cursor() -> CursorWrapper:
    return connections[alias()].cursor()
