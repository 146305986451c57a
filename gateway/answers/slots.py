"""Limits on requests under way in this process."""

import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager

from gateway.errors import Busy, TooManyAtOnce

# Requests under way in one web process: of one person, and of all.
MAX_AT_ONCE_OF_PERSON, MAX_AT_ONCE = 100, 400
RETRY_AFTER_S = 2

_lock = threading.Lock()
_held: "weakref.WeakSet[RequestSlot]" = weakref.WeakSet()


class RequestSlot:
    """Slot of one request, until free() or until the response that holds it is collected."""

    def __init__(self, person: str) -> None:
        self.person = person

    def free(self) -> None:
        with _lock:
            _held.discard(self)


@contextmanager
def take_slot(person: str) -> Iterator[RequestSlot]:
    """Yield a slot for a response to keep; free it if the block raises.

    Raises TooManyAtOnce and Busy.
    """
    slot = _take(person)
    try:
        yield slot
    except BaseException:
        slot.free()
        raise


def _take(person: str) -> RequestSlot:
    slot = RequestSlot(person)
    with _lock:
        if len(_held) >= MAX_AT_ONCE:
            raise Busy(retry_after=RETRY_AFTER_S)
        if sum(held.person == person for held in _held) >= MAX_AT_ONCE_OF_PERSON:
            raise TooManyAtOnce(retry_after=RETRY_AFTER_S)
        _held.add(slot)
    return slot
