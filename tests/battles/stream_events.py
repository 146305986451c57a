"""Reading a live stream as far as one has to."""

from collections.abc import Callable, Iterator
from typing import TypeVar

Event = TypeVar("Event")


def read_until(events: Iterator[Event], enough: Callable[[list[Event]], object]) -> list[Event]:
    """Those with which it is enough; what comes later is still to be read."""
    heard: list[Event] = []
    while not enough(heard):
        heard.append(next(events))
    return heard
