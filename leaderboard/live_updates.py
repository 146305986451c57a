"""Live updates of open boards: one subscription and few queries per web process.

Notifications of snapshots and votes trigger queries, LIVE_INTERVAL_S apart, which also run every POLL_INTERVAL_S, or
with a replica every CHECK_INTERVAL_S.
"""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator
from weakref import WeakKeyDictionary

import msgspec
from redis.asyncio.client import PubSub

from battles.notify import VOTES_CHANNEL
from common import sse
from common.db.execution import CONNECTION_ERRORS, run_in_db
from common.db.replica import CHECK_INTERVAL_S, is_configured, reads_replica
from common.valkey.connections import UNREACHABLE, new_async_connection
from leaderboard.boards.live_figures import LIVE_INTERVAL_S, LiveFigures, cached_figures
from leaderboard.models import AggregationRun
from leaderboard.notify import CHANNEL

logger = logging.getLogger(__name__)

POLL_INTERVAL_S = 60
TICK_S = 1.0
# A run publishes many boards: wait for all their notifications before the query.
DEBOUNCE_S = 0.2
KEEP_ALIVE_S = 15


class BoardWatcher:
    """Watch snapshots and live figures of followed boards, in one event loop."""

    def __init__(self) -> None:
        self._valkey = new_async_connection()
        self._followers: Counter[str] = Counter()
        self._newest: dict[str, str] = {}
        self._figures: LiveFigures | None = None
        self._figures_at = 0.0
        # Events of the present figures, by board, its snapshot and the number of the last vote that readers know.
        self._live_events: dict[tuple[str, str, int], bytes] = {}
        self._changed = asyncio.Event()
        self._watch_task: asyncio.Task[None] | None = None

    async def follow(self, board: str, *, shown: str, seen: int) -> AsyncIterator[bytes]:
        """Yield events of snapshots after `shown` and of votes after `seen`, and keep the line alive; never end."""
        self._followers[board] += 1
        if self._watch_task is None or self._watch_task.done():
            self._watch_task = asyncio.create_task(self._watch())
        try:
            while True:
                changed, newest, figures = self._changed, self._newest.get(board, shown), self._figures
                if newest != shown:
                    shown = newest
                    yield sse.event("snapshot", shown, id=shown)
                    continue
                if figures is not None and figures.new.last > seen:
                    event, seen = self._live_event(board, shown, seen, figures), figures.new.last
                    if event:
                        yield event
                        continue
                try:
                    # Not wait_for(): it may swallow the cancellation when the reader disconnects.
                    async with asyncio.timeout(KEEP_ALIVE_S):
                        await changed.wait()
                except TimeoutError:
                    yield sse.KEEP_ALIVE
        finally:
            self._followers[board] -= 1
            if not self._followers[board]:
                del self._followers[board]
                self._newest.pop(board, None)

    def _live_event(self, board: str, snapshot: str, seen: int, figures: LiveFigures) -> bytes:
        """Return the event for readers who know the votes up to `seen`, b"" if nothing moved on the board."""
        key = board, snapshot, seen
        if key not in self._live_events:
            moved = figures.moved(board, after=seen)
            data = msgspec.json.encode({"snapshot": snapshot, "models": moved}).decode()
            self._live_events[key] = sse.event("live", data) if moved else b""
        return self._live_events[key]

    async def _watch(self) -> None:
        while self._followers:
            try:
                async with self._valkey.pubsub(ignore_subscribe_messages=True) as notifications:
                    await notifications.subscribe(CHANNEL, VOTES_CHANNEL)
                    while self._followers:
                        await self._query()
                        await self._wait_for_notification(notifications)
            except UNREACHABLE as error:
                logger.warning("live updates of boards are delayed: Valkey is unreachable (%s)", error)
                await asyncio.sleep(TICK_S)

    async def _wait_for_notification(self, notifications: PubSub) -> None:
        """Wait for a notification, a newly followed board, or POLL_INTERVAL_S."""
        # A notification may come before its rows reach the replica.
        until = time.monotonic() + (CHECK_INTERVAL_S if is_configured() else POLL_INTERVAL_S)
        while time.monotonic() < until and self._followers and self._followers.keys() <= self._newest.keys():
            if await notifications.get_message(timeout=TICK_S):
                await asyncio.sleep(max(DEBOUNCE_S, self._figures_at + LIVE_INTERVAL_S - time.monotonic()))
                while await notifications.get_message(timeout=0):
                    pass
                return

    async def _query(self) -> None:
        boards, figures = list(self._followers), self._figures
        try:
            newest = await run_in_db(reads_replica(AggregationRun.objects.newest_ids), boards)
            if figures is None or time.monotonic() >= self._figures_at + LIVE_INTERVAL_S:
                cached_figures.invalidate()
                figures = await run_in_db(cached_figures)
        except CONNECTION_ERRORS as error:
            logger.warning("live updates of boards are delayed: no database (%s)", str(error).strip())
            await asyncio.sleep(TICK_S)
            return
        if figures is not self._figures:
            self._figures, self._figures_at, self._live_events = figures, time.monotonic(), {}
        self._newest = {board: newest.get(board, "") for board in boards if board in self._followers}
        self._changed.set()
        self._changed = asyncio.Event()


_watchers: WeakKeyDictionary[asyncio.AbstractEventLoop, BoardWatcher] = WeakKeyDictionary()


def get_watcher() -> BoardWatcher:
    loop = asyncio.get_running_loop()
    if loop not in _watchers:
        _watchers[loop] = BoardWatcher()
    return _watchers[loop]


async def board_events(board: str, *, shown: str, seen: int) -> AsyncIterator[bytes]:
    """Yield events until the reader disconnects.

    `snapshot` has the new snapshot's id as data and event id, `live` {model: [votes since the snapshot, live Elo]} of
    models with a vote after number `seen`.
    """
    yield sse.KEEP_ALIVE
    async for event in get_watcher().follow(board, shown=shown, seen=seen):
        yield event
