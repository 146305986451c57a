"""The ENGINE of the settings: lends no connection that a restart of the server broke, and in a long outage lets nobody
wait in vain.

Django can have the pool check what it lends, but the pool then pauses longer after each broken connection it meets
and gives up before it has met a dozen.
"""

import logging
import select
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
from django.db.backends.postgresql import base
from psycopg_pool import PoolTimeout

logger = logging.getLogger(__name__)


class DatabaseWrapper(base.DatabaseWrapper):
    pool: Any

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        lend = super().get_new_connection
        if not self.pool:
            return lend(conn_params)
        with outage.noticed(self.pool):
            return _one_that_answers(self.pool, lambda: lend(conn_params))


# From the first who waited in vain on; a restart is mostly over by then, and everybody waits for that.
PATIENCE_S = 3.0


class Outage:
    """Begins when somebody waited in vain for a server that refuses; a thread then looks for the server, and ends it.
    While it lasts for long everybody is told at once: threads that wait would keep the next ones waiting."""

    def __init__(self) -> None:
        self._since: float | None = None
        self._begins = threading.Lock()

    @contextmanager
    def noticed(self, pool: Any) -> Iterator[None]:
        """Around asking `pool` for a connection. Raises OperationalError for who does not wait."""
        since = self._since
        if since is not None and time.monotonic() - since >= PATIENCE_S:
            raise psycopg.OperationalError("the database is away, and is being looked for")
        refused_before = _refused(pool)
        try:
            yield
        except PoolTimeout:
            if _refused(pool) > refused_before:  # otherwise all connections are lent
                self._begin(pool)
            raise

    def _begin(self, pool: Any) -> None:
        with self._begins:
            if self._since is None:
                self._since = time.monotonic()
                threading.Thread(target=self._look_for_it, args=[pool], name="outage", daemon=True).start()

    def _look_for_it(self, pool: Any) -> None:
        try:
            while not pool.closed:  # as it is when the process ends
                with suppress(psycopg.OperationalError):
                    pool.putconn(_one_that_answers(pool, pool.getconn))
                    logger.warning("the database is back")
                    return
        finally:  # whatever happened: nobody is refused whom nobody would ever admit again
            self._since = None


outage = Outage()


def _one_that_answers(pool: Any, lend: Callable[[], Any]) -> Any:
    """A connection. Where one is broken, all that lie idle are looked at before another is lent."""
    connection = lend()
    if _answers(connection):
        return connection
    pool.putconn(connection)
    pool.check()
    return lend()


def _refused(pool: Any) -> int:
    """How many of its attempts to connect have failed so far."""
    return int(pool.get_stats().get("connections_errors", 0))


def _answers(connection: Any) -> bool:
    """An idle connection on which something lies to be read was mostly closed by the server."""
    try:
        poll = select.poll()
        poll.register(connection.pgconn.socket, select.POLLIN)
        if poll.poll(0):
            connection.execute("")
    except psycopg.Error:
        return False
    return True
