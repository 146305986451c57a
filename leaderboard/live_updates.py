"""Live updates of open boards, with one subscription and few queries per web process for any number of readers.

A notification triggers a query, which also runs every POLL_INTERVAL_S: a lost one delays the update.
"""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator
from weakref import WeakKeyDictionary

from redis.asyncio.client import PubSub

from common import sse
from common.db.execution import CONNECTION_ERRORS, run_in_db
from common.valkey.connections import UNREACHABLE, new_async_connection
from leaderboard.models import AggregationRun
from leaderboard.notify import CHANNEL

logger = logging.getLogger(__name__)

POLL_INTERVAL_S = 60
TICK_S = 1.0
# A run publishes many boards: wait for all their notifications before the query.
DEBOUNCE_S = 0.2
KEEP_ALIVE_S = 15


class SnapshotWatcher:
    """Watch the newest snapshot of each followed board, in one event loop."""

    def __init__(self) -> None:
        self._valkey = new_async_connection()
        self._followers: Counter[str] = Counter()
        self._newest: dict[str, str] = {}
        self._changed = asyncio.Event()
        self._watch_task: asyncio.Task[None] | None = None

    async def follow(self, board: str, shown: str) -> AsyncIterator[str]:
        """Yield the id of each snapshot after `shown`, and "" after each KEEP_ALIVE_S without one; never end."""
        self._followers[board] += 1
        if self._watch_task is None or self._watch_task.done():
            self._watch_task = asyncio.create_task(self._watch())
        try:
            while True:
                changed, newest = self._changed, self._newest.get(board, shown)
                if newest != shown:
                    shown = newest
                    yield shown
                    continue
                try:
                    # Not wait_for(): it may swallow the cancellation when the reader disconnects.
                    async with asyncio.timeout(KEEP_ALIVE_S):
                        await changed.wait()
                except TimeoutError:
                    yield ""
        finally:
            self._followers[board] -= 1
            if not self._followers[board]:
                del self._followers[board]
                self._newest.pop(board, None)

    async def _watch(self) -> None:
        while self._followers:
            try:
                async with self._valkey.pubsub(ignore_subscribe_messages=True) as notifications:
                    await notifications.subscribe(CHANNEL)
                    while self._followers:
                        await self._query_newest()
                        await self._wait_for_notification(notifications)
            except UNREACHABLE as error:
                logger.warning("live updates of boards are delayed: Valkey is unreachable (%s)", error)
                await asyncio.sleep(TICK_S)

    async def _wait_for_notification(self, notifications: PubSub) -> None:
        """Wait for a notification, a newly followed board, or POLL_INTERVAL_S."""
        until = time.monotonic() + POLL_INTERVAL_S
        while time.monotonic() < until and self._followers and self._followers.keys() <= self._newest.keys():
            if await notifications.get_message(timeout=TICK_S):
                await asyncio.sleep(DEBOUNCE_S)
                while await notifications.get_message(timeout=0):
                    pass
                return

    async def _query_newest(self) -> None:
        boards = list(self._followers)
        try:
            newest = await run_in_db(AggregationRun.objects.newest_ids, boards)
        except CONNECTION_ERRORS as error:
            logger.warning("live updates of boards are delayed: no database (%s)", str(error).strip())
            await asyncio.sleep(TICK_S)
            return
        self._newest = {board: newest.get(board, "") for board in boards if board in self._followers}
        self._changed.set()
        self._changed = asyncio.Event()


_watchers: WeakKeyDictionary[asyncio.AbstractEventLoop, SnapshotWatcher] = WeakKeyDictionary()


def get_watcher() -> SnapshotWatcher:
    loop = asyncio.get_running_loop()
    if loop not in _watchers:
        _watchers[loop] = SnapshotWatcher()
    return _watchers[loop]


async def board_events(board: str, shown: str) -> AsyncIterator[bytes]:
    """Yield `snapshot` events with the id as data and event id, until the reader disconnects."""
    yield sse.KEEP_ALIVE
    async for snapshot in get_watcher().follow(board, shown):
        yield sse.event("snapshot", snapshot, id=snapshot) if snapshot else sse.KEEP_ALIVE
