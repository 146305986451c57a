"""What the person who started the arena reads."""

from contextlib import suppress


def say(text: str) -> None:
    with suppress(OSError):  # nobody reads any more: that is no reason to fall
        print(text, flush=True)
