import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import TypeVar

Result = TypeVar("Result")


def run_with_timeout(new_work: Callable[[], Coroutine[object, None, Result]], *, seconds: float) -> Result:
    """Run a coroutine on an event loop of its own. Raises its exception, or TimeoutError.

    Name lookups cannot be cancelled, so a thread that is still in one at the deadline is abandoned.
    """
    results: list[Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(asyncio.run(new_work()))
        except BaseException as error:  # raised in the waiting thread
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if errors:
        raise errors[0]
    if not results:
        raise TimeoutError
    return results[0]
