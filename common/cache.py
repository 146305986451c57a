import logging
import math
import threading
import time
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Generic, TypeVar
from weakref import WeakSet

from django.db import connections, transaction
from django.db.models import Model
from django.db.models.signals import post_delete, post_save

from common.db.reading import reads_primary

logger = logging.getLogger(__name__)

T = TypeVar("T")

# Values of teams that a process keeps of one kind.
MAX_TEAMS = 1_000

# All caches of the process.
registered: "WeakSet[_Cached]" = WeakSet()


class _Cached:
    def __init__(self, ttl_s: float) -> None:
        self.ttl_s = ttl_s
        registered.add(self)

    def invalidate(self) -> None:
        raise NotImplementedError


def reset_all() -> None:
    """Let the next call of each cache load."""
    for cached in tuple(registered):
        cached.invalidate()


class TTLCached(_Cached, Generic[T]):
    """TTL cache of a zero-argument query in the process, shared by threads. Callers must not change the value.

    Saving or deleting an instance of `invalidated_by` in this process drops the value at once, if `is_concerned` of it
    is true. One thread loads, the
    others wait for it; a load that raises is not kept. refreshes_early: a call after half of the TTL starts a thread
    that loads the next value, so that frequent calls never wait.
    """

    def __init__(
        self,
        load: Callable[[], T],
        *,
        ttl_s: float,
        invalidated_by: tuple[type[Model], ...] = (),
        is_concerned: Callable[[Model], bool] = lambda row: True,
        refreshes_early: bool = False,
    ) -> None:
        super().__init__(ttl_s)
        self._load = reads_primary(load)  # for every caller, also in a context that reads the replica
        self._is_concerned = is_concerned
        self._refreshes_early = refreshes_early
        self._is_refreshing = False
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
            remaining_s = self._expires_at - time.monotonic()
            if self._loaded_version is not self._version or remaining_s <= 0:
                version = self._version  # taken before loading: a change during the load may not be in its result
                self._value = self._load()
                self._expires_at = time.monotonic() + self.ttl_s
                self._loaded_version = version
            elif self._refreshes_early and remaining_s <= self.ttl_s / 2 and not self._is_refreshing:
                self._is_refreshing = True
                threading.Thread(target=self._refresh, daemon=True).start()
            return self._value

    def _refresh(self) -> None:
        version, began_at = self._version, time.monotonic()
        try:
            value = self._load()
            with self._lock:
                if version is self._version:
                    self._value, self._expires_at = value, began_at + self.ttl_s
        except Exception:  # the value stays until it expires; then a caller gets the error
            logger.exception("%s could not be loaded", getattr(self._load, "__name__", self._load))
        finally:
            self._is_refreshing = False
            connections.close_all()  # back to their pools

    def invalidate(self) -> None:
        self._version = object()

    def invalidate_with_commit(self) -> None:
        self.invalidate()
        transaction.on_commit(self.invalidate)  # another thread may have loaded before the commit

    def preset(self, value: T) -> None:
        """Use the value, without a TTL, until a change invalidates it."""
        with self._lock:
            self._value, self._expires_at, self._loaded_version = value, math.inf, self._version

    def _on_change(self, instance: Model, **_: object) -> None:
        if self._is_concerned(instance):
            self.invalidate_with_commit()


class TTLCachedByTeam(Generic[T]):
    """A TTLCached for each team's id; saving or deleting a team's row of `invalidated_by` drops that team's value."""

    def __init__(self, load: Callable[[int], T], *, ttl_s: float, invalidated_by: tuple[type[Model], ...]) -> None:
        self._of_team: Callable[[int], TTLCached[T]] = lru_cache(maxsize=MAX_TEAMS)(
            lambda team_id: TTLCached(partial(load, team_id), ttl_s=ttl_s)
        )
        for model in invalidated_by:
            post_save.connect(self._on_change, sender=model)
            post_delete.connect(self._on_change, sender=model)

    def __call__(self, team_id: int) -> T:
        return self._of_team(team_id)()

    def _on_change(self, instance: Model, **_: object) -> None:
        team_id: int | None = instance.team_id  # type: ignore[attr-defined]
        if team_id is not None:
            self._of_team(team_id).invalidate_with_commit()


def is_of_site(row: Model) -> bool:
    """Return whether a row that can be a team's is the site's."""
    return getattr(row, "team_id", None) is None


class RefreshedCached(_Cached, Generic[T]):
    """Cache of a zero-argument query in the process: an expired value is used while a thread loads the next one.

    Only the first call waits. If a load fails, the value stays.
    """

    def __init__(self, load: Callable[[], T], *, ttl_s: float) -> None:
        super().__init__(ttl_s)
        self._load = reads_primary(load)  # for every caller, also in a context that reads the replica
        self._lock = threading.Lock()
        self._value: T
        self._is_loaded = False
        self._is_loading = False
        self._expires_at = 0.0

    def __call__(self) -> T:
        if not self._is_loaded:
            with self._lock:
                if not self._is_loaded:
                    self._store(self._load())
        elif time.monotonic() >= self._expires_at:
            self._refresh_in_background()
        return self._value

    def invalidate(self) -> None:
        """Let the next call load and wait."""
        self._is_loaded = False

    def _store(self, value: T) -> None:
        self._value, self._is_loaded = value, True
        self._expires_at = time.monotonic() + self.ttl_s

    def _refresh_in_background(self) -> None:
        with self._lock:
            if self._is_loading:
                return
            self._is_loading = True
        threading.Thread(target=self._refresh, daemon=True).start()

    def _refresh(self) -> None:
        try:
            self._store(self._load())
        except Exception:
            logger.exception("%s could not be loaded", getattr(self._load, "__name__", self._load))
            self._expires_at = time.monotonic() + self.ttl_s
        finally:
            self._is_loading = False
            connections.close_all()  # back to their pools


class DerivedCached(Generic[T]):
    """Cache in the process of a value built from others; built anew when one of them is another object.

    from_: caches of the values, passed to `build` in order. Callers must not change the value.
    """

    def __init__(self, build: Callable[..., T], *, from_: tuple[Callable[[], object], ...]) -> None:
        self._build = build
        self._from = from_
        self._held: tuple[tuple[object, ...], T] | None = None

    def __call__(self) -> T:
        sources = tuple([source() for source in self._from])
        held = self._held
        if held is None or any(new is not old for new, old in zip(sources, held[0], strict=True)):
            held = self._held = sources, self._build(*sources)
        return held[1]
