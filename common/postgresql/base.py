"""The ENGINE of the settings: lends no connection that a restart of the server broke, and in a long outage lets nobody
wait in vain.

Django can have the pool check what it lends, but the pool then pauses longer after each broken connection it meets
and gives up before it has met a dozen.
"""

import select
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from django.db.backends.postgresql import base
from psycopg_pool import PoolTimeout


class DatabaseWrapper(base.DatabaseWrapper):
    pool: Any

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """One that answers. Where one is broken, all that lie idle are looked at before another is lent."""
        if not self.pool:
            return super().get_new_connection(conn_params)
        with outage.noticed(self.pool):
            connection = super().get_new_connection(conn_params)
            if not _answers(connection):
                self.pool.putconn(connection)
                self.pool.check()
                connection = super().get_new_connection(conn_params)
            return connection


# From the first who waited in vain on; a restart is mostly over by then, and everybody waits for that.
PATIENCE_S = 3.0


class Outage:
    """Begins when somebody waited in vain for a server that refuses, and ends with the next connection. When it lasts,
    one at a time waits for it and all others are told at once: threads that wait would keep the next ones waiting."""

    def __init__(self) -> None:
        self._since: float | None = None
        self._somebody_waits = threading.Lock()

    @contextmanager
    def noticed(self, pool: Any) -> Iterator[None]:
        """Around asking `pool` for a connection. Raises OperationalError for who does not wait."""
        waits_alone = self._since is not None and time.monotonic() - self._since >= PATIENCE_S
        if waits_alone and not self._somebody_waits.acquire(blocking=False):
            raise psycopg.OperationalError("the database is away, and somebody waits for it already")
        refused_before = _refused(pool)
        try:
            yield
            self._since = None
        except PoolTimeout:
            if _refused(pool) > refused_before:  # otherwise all connections are lent
                self._since = self._since or time.monotonic()
            raise
        finally:
            if waits_alone:
                self._somebody_waits.release()


outage = Outage()


def _refused(pool: Any) -> int:
    """How many of its attempts to connect have failed so far."""
    return int(pool.get_stats().get("connections_errors", 0))


def _answers(connection: Any) -> bool:
    """An idle connection on which something lies to be read was mostly closed by the server."""
    poll = select.poll()
    poll.register(connection.pgconn.socket, select.POLLIN)
    if not poll.poll(0):
        return True
    try:
        connection.execute("")
    except psycopg.Error:
        return False
    return True
