import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from django.db import transaction
from django.db.models import Model
from django.db.models.signals import post_delete, post_save

T = TypeVar("T")


class TTLCached(Generic[T]):
    """TTL cache of a zero-argument query in the process, shared by threads. Callers must not change the value.

    Saving or deleting an instance of `invalidated_by` in this process drops the value at once. One thread loads, the
    others wait for it; a load that raises is not kept.
    """

    def __init__(self, load: Callable[[], T], *, ttl_s: float, invalidated_by: tuple[type[Model], ...] = ()) -> None:
        self.ttl_s = ttl_s
        self._load = load
        self._lock = threading.Lock()
        self._value: T
        self._expires_at = 0.0
        self._version = object()  # replaced by each change
        self._loaded_version: object = None
        for model in invalidated_by:
            post_save.connect(self._on_change, sender=model)
            post_delete.connect(self._on_change, sender=model)

    def __call__(self) -> T:
        with self._lock:
            if self._loaded_version is not self._version or time.monotonic() >= self._expires_at:
                version = self._version  # taken before loading: a change during the load may not be in its result
                self._value = self._load()
                self._expires_at = time.monotonic() + self.ttl_s
                self._loaded_version = version
            return self._value

    def invalidate(self) -> None:
        self._version = object()

    def _on_change(self, **_: object) -> None:
        self.invalidate()
        transaction.on_commit(self.invalidate)  # another thread may have loaded before the commit
