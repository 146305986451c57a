from collections.abc import Callable, Iterator
from typing import TypeVar

Event = TypeVar("Event")


def read_until(events: Iterator[Event], is_enough: Callable[[list[Event]], object]) -> list[Event]:
    """Read until `is_enough(read events)`; later events stay in the iterator."""
    read: list[Event] = []
    while not is_enough(read):
        read.append(next(events))
    return read
