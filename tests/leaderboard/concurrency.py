"""Several people or workers at the same time, each with a connection of its own."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import connection


def at_once(act: Callable[[Any], Any], subjects: Iterable[Any]) -> list[Any]:
    """act(subject) in one thread per subject; the results in order. Raises what the first failure raised."""

    def alone(subject: Any) -> Any:
        try:
            return act(subject)
        finally:
            connection.close()

    subjects = list(subjects)
    with ThreadPoolExecutor(len(subjects)) as threads:
        return list(threads.map(alone, subjects))


def elsewhere(act: Callable[[], Any]) -> Any:
    """What act() gives in another process's place: another thread, another connection."""
    [result] = at_once(lambda _: act(), [None])
    return result
