"""Limits on requests under way in this process."""

import threading
import weakref

from gateway.errors import Busy, TooManyAtOnce
from gateway.limits import MAX_AT_ONCE, MAX_AT_ONCE_OF_PERSON

RETRY_AFTER_S = 2

_lock = threading.Lock()
_held: "weakref.WeakSet[RequestSlot]" = weakref.WeakSet()


class RequestSlot:
    """Freed with the response, which holds the only reference."""

    def __init__(self, person: str) -> None:
        self.person = person


def take_slot(person: str) -> RequestSlot:
    """Raises TooManyAtOnce and Busy."""
    slot = RequestSlot(person)
    with _lock:
        if len(_held) >= MAX_AT_ONCE:
            raise Busy(retry_after=RETRY_AFTER_S)
        if sum(held.person == person for held in _held) >= MAX_AT_ONCE_OF_PERSON:
            raise TooManyAtOnce(retry_after=RETRY_AFTER_S)
        _held.add(slot)
    return slot
