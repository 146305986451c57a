from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import connection


def run_concurrently(act: Callable[[Any], Any], subjects: Iterable[Any]) -> list[Any]:
    """Run act(subject) in one thread per subject; return the results in order. Raises the first error."""

    def run(subject: Any) -> Any:
        try:
            return act(subject)
        finally:
            connection.close()

    subjects = list(subjects)
    with ThreadPoolExecutor(len(subjects)) as threads:
        return list(threads.map(run, subjects))


def run_in_other_connection(act: Callable[[], Any]) -> Any:
    [result] = run_concurrently(lambda _: act(), [None])
    return result
