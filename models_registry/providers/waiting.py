"""Asking a provider from a thread that waits for the answer, and no longer than it wants to."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import TypeVar

Answer = TypeVar("Answer")


def wait_for(ask: Callable[[], Coroutine[object, None, Answer]], *, seconds: float) -> Answer:
    """What `ask` comes to, on an event loop of its own. Raises what it raises, and TimeoutError when it is late.

    A name lookup cannot be cancelled: a thread that is still in one after the deadline is left behind.
    """
    outcome: list[Answer] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(asyncio.run(ask()))
        except BaseException as error:  # handed to whoever waits
            failure.append(error)

    asking = threading.Thread(target=run, daemon=True)
    asking.start()
    asking.join(seconds)
    if failure:
        raise failure[0]
    if not outcome:
        raise TimeoutError
    return outcome[0]
