import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

# The terminal says what a start waits for after so many seconds without a line.
SILENCE_S = 5.0


def echo(text: str) -> None:
    with suppress(OSError):  # a closed terminal must not end the launcher
        print(text, flush=True)


@contextmanager
def announced_if_slow(text: str) -> Iterator[None]:
    """Print `text` if the block takes longer than SILENCE_S. No thread is left: the launcher forks."""
    timer = threading.Timer(SILENCE_S, echo, [text])
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
