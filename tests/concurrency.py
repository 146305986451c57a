from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

from django.db import connection


def race(act: Callable[[Any], Any], subjects: Iterable[Any]) -> list[Any]:
    """Run act(subject) at once, in one thread per subject; return the results in order. Raises the first error."""
    subjects = list(subjects)
    start = Barrier(len(subjects))

    def run(subject: Any) -> Any:
        start.wait(30)
        try:
            return act(subject)
        finally:
            connection.close()

    with ThreadPoolExecutor(len(subjects)) as threads:
        return list(threads.map(run, subjects))


def is_waited_for() -> bool:
    """Return whether another connection waits for a lock of this one."""
    with connection.cursor() as cursor:
        # Views of activity would not change inside a transaction.
        cursor.execute("SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))")
        return bool(cursor.fetchall())


def run_in_other_connection(act: Callable[[], Any]) -> Any:
    [result] = race(lambda _: act(), [None])
    return result
