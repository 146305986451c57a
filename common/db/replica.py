"""A standby of the database, read where the newest rows may be missing, as long as it can be used (docs/adr/0079)."""

import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from enum import StrEnum
from functools import partial, wraps
from typing import NamedTuple, ParamSpec, TypeVar

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, Error, InterfaceError, OperationalError, ProgrammingError, connections
from psycopg import errors

from common.db.postgresql.base import break_replica_connections
from common.db.reading import REPLICA, replica_allowed
from common.valkey import counters

logger = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

CHECK_INTERVAL_S, CHECK_TIMEOUT_S, MAX_STATUS_AGE_S = 5.0, 4.0, 15.0
# Positions that are remembered, some minutes of checks.
MAX_POSITIONS = 60
# The schema of a replica that has not replayed a migration yet.
_OLD_SCHEMA = (errors.UndefinedTable, errors.UndefinedColumn, errors.UndefinedFunction)


class Problem(StrEnum):
    """Reasons not to read the replica."""

    UNKNOWN = "not checked yet"
    AWAY = "cannot be reached"
    NO_STANDBY = "is not a standby"
    LATE = "is too far behind"
    FAILED = "failed a read"


class Status(NamedTuple):
    """lag_s: seconds by which the replica is behind at most, inf if unknown. detail: error or figures, for logs."""

    problem: Problem | None
    lag_s: float = math.inf
    detail: str = ""


def is_configured() -> bool:
    return REPLICA in connections.settings


class Watcher:
    """Checks the replica from a thread, so that no request waits for it."""

    def __init__(self) -> None:
        self.status = Status(Problem.UNKNOWN)
        self._checked_at = 0.0
        self._positions: deque[tuple[float, int]] = deque(maxlen=MAX_POSITIONS)
        self._lock = threading.Lock()
        self._has_started = False

    def is_usable(self) -> bool:
        self._start()
        # The checks hang while the primary does.
        is_recent = time.monotonic() - self._checked_at < MAX_STATUS_AGE_S
        return is_recent and self.status.problem is None

    def _start(self) -> None:
        if self._has_started:
            return
        with self._lock:
            if not self._has_started:  # after a fork, each process has a thread of its own
                self._has_started = True
                threading.Thread(target=self._watch, name="replica", daemon=True).start()

    def _watch(self) -> None:
        while True:
            self.check()
            time.sleep(CHECK_INTERVAL_S)

    def check(self) -> Status:
        """Compare the replica with the primary, and return the connections of this thread to their pools."""
        hanging = threading.Timer(CHECK_TIMEOUT_S, break_replica_connections)
        hanging.start()
        try:
            status = self._compare()
        except Error as error:
            status = Status(Problem.AWAY, detail=str(error).strip())
            break_replica_connections()  # requests that wait on other connections would wait on
        finally:
            hanging.cancel()
            connections.close_all()
        self._checked_at = time.monotonic()
        self._set(status)
        return status

    def note_failure(self, error: Exception) -> None:
        """Leave the replica alone until the next check."""
        counters.add("replica_fallbacks")
        self._set(Status(Problem.FAILED, self.status.lag_s, str(error).strip()))

    def _set(self, status: Status) -> None:
        before = self.status.problem
        if before == Problem.UNKNOWN or (status.problem is None) != (before is None):
            if status.problem is None:
                logger.info("the replica is read")
            else:
                logger.warning("the primary is read: the replica %s (%s)", status.problem, status.detail)
        self.status = status

    def _compare(self) -> Status:
        with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
            cursor.execute("SELECT pg_current_wal_lsn() - '0/0'")
            [position] = cursor.fetchone()
        with connections[REPLICA].cursor() as cursor:
            cursor.execute(
                "SELECT pg_is_in_recovery(), pg_last_wal_replay_lsn() - '0/0', "
                "extract(epoch FROM now() - pg_last_xact_replay_timestamp())"
            )
            is_standby, replayed, since_commit_s = cursor.fetchone()
        if not is_standby or replayed is None:
            return Status(Problem.NO_STANDBY, detail="it does not replay a primary's log")
        lag_s = self._lag_s(position, replayed, math.inf if since_commit_s is None else float(since_commit_s))
        is_late = lag_s > settings.ARENA_REPLICA_MAX_LAG_S
        return Status(Problem.LATE if is_late else None, lag_s, f"{lag_s:.1f} s")

    def _lag_s(self, position: int, replayed: int, since_commit_s: float) -> float:
        """Return an upper bound in seconds.

        since_commit_s: time since the last replayed commit. It is long if there was no other one, or while a long
        transaction is replayed: then positions of the primary at earlier checks are a closer bound.
        """
        now = time.monotonic()
        self._positions.append((now, position))
        if replayed >= position:
            return 0.0
        return min(since_commit_s, *(now - at for at, earlier in self._positions if earlier <= replayed), math.inf)


watcher = Watcher()


class ReplicaReads:
    """Reads of one response: all of the replica, or from the first that fails on, of the primary."""

    def __init__(self) -> None:
        self._is_on_replica = is_configured()

    def run(self, read: Callable[[], T]) -> T:
        """Return the result of `read`, which is called again if the replica fails, and therefore changes nothing."""
        self._choose()
        with replica_allowed(self._is_on_replica):
            try:
                return read()
            except (OperationalError, InterfaceError, ProgrammingError) as error:
                if not self._is_on_replica or not _may_be_the_replica(error):
                    raise
                watcher.note_failure(error)
        self._is_on_replica = False
        return self.run(read)

    def iterate(self, make: Callable[[], Iterator[T]]) -> Iterator[T]:
        """Yield from `make()`, which is called again if the replica fails before the first item."""
        iterator, item = self.run(lambda: _begin(make))
        while item is not None:
            yield item
            self._choose()
            with replica_allowed(self._is_on_replica):
                item = next(iterator, None)

    def _choose(self) -> None:
        # Not back to the replica: it may lack rows that an earlier read found.
        self._is_on_replica = self._is_on_replica and watcher.is_usable()


def _begin(make: Callable[[], Iterator[T]]) -> tuple[Iterator[T], T | None]:
    iterator = make()
    return iterator, next(iterator, None)


def _may_be_the_replica(error: Exception) -> bool:
    return not isinstance(error, ProgrammingError) or isinstance(error.__cause__, _OLD_SCHEMA)


def reads_replica(read: Callable[P, T]) -> Callable[P, T]:
    """Let a function that changes nothing read the replica, or the primary while the replica cannot be used."""

    @wraps(read)
    def reading(*args: P.args, **kwargs: P.kwargs) -> T:
        return ReplicaReads().run(partial(read, *args, **kwargs))

    return reading
