"""News of snapshots for open boards: one subscription and now and then one query per web process, however many read.

The announcement is only a wake-up, the database says what is newest. So nothing is missed while Valkey is away or
has forgotten everything: the next look, at the latest a minute later, finds it.
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

LOOK_EVERY_S = 60
TICK_S = 1.0
# One run publishes many boards: their announcements are answered with one look.
GATHER_S = 0.2
QUIET_S = 15


class SnapshotNews:
    """Belongs to one event loop. Knows the newest snapshot of each board that somebody follows."""

    def __init__(self) -> None:
        self._valkey = new_async_connection()
        self._followed: Counter[str] = Counter()
        self._newest: dict[str, str] = {}
        self._changed = asyncio.Event()
        self._watching: asyncio.Task[None] | None = None

    async def follow(self, board: str, shown: str) -> AsyncIterator[str]:
        """The id of each snapshot that is not the one shown before; "" when it was quiet for a while. Without end."""
        self._followed[board] += 1
        if self._watching is None or self._watching.done():
            self._watching = asyncio.create_task(self._watch())
        try:
            while True:
                changed, newest = self._changed, self._newest.get(board, shown)
                if newest != shown:
                    shown = newest
                    yield shown
                    continue
                try:
                    async with asyncio.timeout(QUIET_S):  # wait_for() may swallow the cancellation of a reader who left
                        await changed.wait()
                except TimeoutError:
                    yield ""
        finally:
            self._followed[board] -= 1
            if not self._followed[board]:
                del self._followed[board]
                self._newest.pop(board, None)

    async def _watch(self) -> None:
        while self._followed:
            try:
                async with self._valkey.pubsub(ignore_subscribe_messages=True) as announcements:
                    await announcements.subscribe(CHANNEL)
                    while self._followed:
                        await self._look()
                        await self._wait_for_news(announcements)
            except UNREACHABLE as error:
                logger.warning("open boards wait for news: Valkey is away (%s)", error)
                await asyncio.sleep(TICK_S)

    async def _wait_for_news(self, announcements: PubSub) -> None:
        """Until something is announced, a board is followed that was not, or a minute is over."""
        until = time.monotonic() + LOOK_EVERY_S
        while time.monotonic() < until and self._followed and self._followed.keys() <= self._newest.keys():
            if await announcements.get_message(timeout=TICK_S):
                await asyncio.sleep(GATHER_S)
                while await announcements.get_message(timeout=0):
                    pass
                return

    async def _look(self) -> None:
        boards = list(self._followed)
        try:
            found = await run_in_db(AggregationRun.objects.newest_ids, boards)
        except CONNECTION_ERRORS as error:
            logger.warning("open boards wait for news: the database is away (%s)", str(error).strip())
            await asyncio.sleep(TICK_S)
            return
        self._newest = {board: found.get(board, "") for board in boards if board in self._followed}
        self._changed.set()
        self._changed = asyncio.Event()


_news: WeakKeyDictionary[asyncio.AbstractEventLoop, SnapshotNews] = WeakKeyDictionary()


def news() -> SnapshotNews:
    """The news of the running loop."""
    loop = asyncio.get_running_loop()
    if loop not in _news:
        _news[loop] = SnapshotNews()
    return _news[loop]


async def board_events(board: str, shown: str) -> AsyncIterator[bytes]:
    """`snapshot` events whose data and id is the new snapshot's id; they never end, a reader leaves."""
    yield sse.KEEP_ALIVE
    async for snapshot in news().follow(board, shown):
        yield sse.event("snapshot", snapshot, id=snapshot) if snapshot else sse.KEEP_ALIVE
