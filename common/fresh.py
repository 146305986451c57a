"""What many ask for and few change: read once for everybody who asks within some seconds."""

import threading
import time
from collections.abc import Callable
from copy import copy
from typing import Any, Generic, TypeVar

from django.db import transaction
from django.db.models import Model
from django.db.models.signals import post_delete, post_save

T = TypeVar("T")


class Fresh(Generic[T]):
    """`read`'s value, at most `for_s` seconds old; what this process saves of the models `changed_by` shows at once.

    The threads of the process share the value: nobody changes it. A reading that fails fails for all who wait for it.
    """

    def __init__(self, read: Callable[[], T], *, for_s: float, changed_by: tuple[type[Model], ...] = ()) -> None:
        self.for_s = for_s
        self._read = read
        self._lock = threading.Lock()
        self._value: T
        self._good_until = 0.0
        self._state = object()  # another one after each change
        self._read_in: object = None
        self._failed_at, self._failure = 0.0, Exception()
        for model in changed_by:
            post_save.connect(self._look_again, sender=model)
            post_delete.connect(self._look_again, sender=model)

    def __call__(self) -> T:
        asked_at = time.monotonic()
        with self._lock:
            if self._read_in is not self._state or time.monotonic() >= self._good_until:
                if asked_at < self._failed_at:
                    raise copy(self._failure)
                self._look()
            return self._value

    def _look(self) -> None:
        state = self._state  # before reading: a change while it reads may not be in what it reads
        try:
            self._value = self._read()
        except Exception as error:
            self._failed_at, self._failure = time.monotonic(), copy(error)  # without the frames it came through
            raise
        self._good_until = time.monotonic() + self.for_s
        self._read_in = state

    def forget(self) -> None:
        self._state = object()

    def _look_again(self, **_: Any) -> None:
        self.forget()
        transaction.on_commit(self.forget)  # somebody may have looked before
