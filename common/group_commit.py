import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Generic, TypeVar

T = TypeVar("T")


class GroupCommit(Generic[T]):
    """Stores items in groups, one group at a time, on one event loop.

    A group is due `delay_s` after its first item or after the end of the group before it, with `due_size` items, or at
    once for an urgent one. It has at most `max_size` items. `store` must not raise.
    """

    def __init__(
        self, store: Callable[[list[T]], Awaitable[None]], *, delay_s: float, max_size: int, due_size: int = 0
    ) -> None:
        self._store, self._delay_s, self._max_size = store, delay_s, max_size
        self._due_size = due_size or max_size
        self._waiting: list[T] = []
        self._is_due = asyncio.Event()
        self._is_finishing = False
        self._running: asyncio.Task[None] | None = None

    def put(self, item: T, *, is_urgent: bool = False) -> None:
        self._waiting.append(item)
        if is_urgent or len(self._waiting) >= self._due_size:
            self._is_due.set()
        if self._running is None:
            self._running = asyncio.create_task(self._run())

    async def finish(self) -> None:
        """Store all items now."""
        self._is_finishing = True
        self._is_due.set()
        if self._running is not None:
            await asyncio.wait([self._running])

    async def _run(self) -> None:
        while self._waiting:
            if not self._is_finishing:
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._delay_s):
                        await self._is_due.wait()
            group, self._waiting = self._waiting[: self._max_size], self._waiting[self._max_size :]
            if len(self._waiting) < self._due_size:
                self._is_due.clear()
            await self._store(group)
        self._running = None
