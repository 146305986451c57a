"""Django's PostgreSQL backend, with a pool that survives a restart of the server and fails fast in an outage.

With Django's own check of lent connections, the pool gives up before it has met a dozen broken ones: docs/adr/0033.
"""

import logging
import os
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from weakref import WeakSet

import psycopg
from django.db.backends.postgresql import base
from psycopg_pool import PoolTimeout

from common.db.reading import REPLICA

logger = logging.getLogger(__name__)


class DatabaseWrapper(base.DatabaseWrapper):
    pool: Any

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        connect = super().get_new_connection
        if not self.pool:
            return connect(conn_params)
        if self.alias == REPLICA:  # its outage must not close the way to the primary
            connection = _working_connection(self.pool, lambda: connect(conn_params))
            _replica_connections.add(connection)
            return connection
        with breaker.guard(self.pool):
            return _working_connection(self.pool, lambda: connect(conn_params))


# A restart is mostly over within this time after the first timeout: until then requests wait as usual.
GRACE_S = 3.0


class CircuitBreaker:
    """Fails requests for a connection at once during a long outage; waiting threads would block all others.

    Opens on a pool timeout caused by refused connections; a background thread probes the server and closes it.
    """

    def __init__(self) -> None:
        self._opened_at: float | None = None
        self._lock = threading.Lock()

    @contextmanager
    def guard(self, pool: Any) -> Iterator[None]:
        """Wrap a request to `pool` for a connection. Raises OperationalError while open for longer than GRACE_S."""
        opened_at = self._opened_at
        if opened_at is not None and time.monotonic() - opened_at >= GRACE_S:
            raise psycopg.OperationalError("the database is away; connections are refused until it answers a probe")
        errors_before = _connection_errors(pool)
        try:
            yield
        except PoolTimeout:
            if _connection_errors(pool) > errors_before:  # otherwise all connections are in use
                self._open(pool)
            raise

    def _open(self, pool: Any) -> None:
        with self._lock:
            if self._opened_at is None:
                self._opened_at = time.monotonic()
                threading.Thread(target=self._probe, args=[pool], name="database-probe", daemon=True).start()

    def _probe(self, pool: Any) -> None:
        try:
            while not pool.closed:  # as it is when the process ends
                with suppress(psycopg.OperationalError):
                    pool.putconn(_working_connection(pool, pool.getconn))
                    logger.warning("the database is back")
                    return
        finally:  # also after an unexpected error: without a probe nothing else would close the breaker
            self._opened_at = None


breaker = CircuitBreaker()


def _working_connection(pool: Any, get: Callable[[], Any]) -> Any:
    """Return a connection. If the first one is broken, have the pool check all idle ones before the next."""
    connection = get()
    if _is_working(connection):
        return connection
    pool.putconn(connection)
    pool.check()
    return get()


_replica_connections: WeakSet[psycopg.Connection] = WeakSet()


def break_replica_connections() -> None:
    """Let all queries that wait for a hung replica fail at once; otherwise they would wait as long as it hangs."""
    for connection in tuple(_replica_connections):
        with suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(connection.fileno())) as broken:
            broken.shutdown(socket.SHUT_RDWR)


def _connection_errors(pool: Any) -> int:
    """Return how many of the pool's attempts to connect have failed."""
    return int(pool.get_stats().get("connections_errors", 0))


def _is_working(connection: Any) -> bool:
    """Run a query only if the idle socket is readable, mostly because the server closed it."""
    try:
        poll = select.poll()
        poll.register(connection.pgconn.socket, select.POLLIN)
        if poll.poll(0):
            connection.execute("")
    except psycopg.Error:
        return False
    return True
