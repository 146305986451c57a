import asyncio
from collections.abc import AsyncIterator

import pytest

from battles.streaming import reader as stream_reader
from battles.streaming.protocol import BEGINNING, TurnEvent
from battles.streaming.reader import Entry, NumberedEvent, follow, get_hub
from leaderboard.live_updates import get_watcher

ENTRY: Entry = ("1-0", [TurnEvent("text", "left", "one")])


async def _read(events: AsyncIterator[object]) -> None:
    async for _ in events:
        pass


async def _listener(key: str) -> stream_reader.Listener:
    for _ in range(1000):
        if listeners := get_hub()._listeners.get(key):
            return listeners[0]
        await asyncio.sleep(0.01)
    raise AssertionError("the stream has no listener")


async def _ends_when_cancelled(reading: asyncio.Task[None], *, after_ticks: int) -> bool:
    """Cancel the reader after some steps of the loop; return whether it ended as cancelled."""
    for _ in range(after_ticks):
        await asyncio.sleep(0)
    reading.cancel()
    await asyncio.wait([reading], timeout=10)
    return reading.cancelled()


@pytest.mark.parametrize("ticks", range(5))
def test_reader_cancelled_as_text_arrives_ends(ticks: int):
    async def leave() -> bool:
        reading = asyncio.create_task(_read(follow("turn:x:0:0", after=BEGINNING)))
        listener = await _listener("turn:x:0:0")
        await asyncio.sleep(0.05)
        listener.put(ENTRY)
        return await _ends_when_cancelled(reading, after_ticks=ticks)

    assert asyncio.run(leave())


@pytest.mark.parametrize("ticks", range(5))
def test_board_reader_cancelled_as_news_arrives_ends(ticks: int):
    async def leave() -> bool:
        get_watcher()._watch_task = asyncio.create_task(asyncio.sleep(60))
        reading = asyncio.create_task(_read(get_watcher().follow("overall", shown="shown", seen=0)))
        await asyncio.sleep(0.05)
        get_watcher()._changed.set()
        get_watcher()._changed = asyncio.Event()
        return await _ends_when_cancelled(reading, after_ticks=ticks)

    assert asyncio.run(leave())


def test_too_slow_reader_is_ended(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(stream_reader, "MAX_QUEUED", 3)
    read: list[list[NumberedEvent]] = []

    async def fall_behind() -> None:
        events = follow("turn:x:0:0", after=BEGINNING)
        first = asyncio.create_task(anext(events))
        listener = await _listener("turn:x:0:0")
        for number in range(1, 6):
            listener.put((f"{number}-0", [TurnEvent("text", "left", "one")]))
        read.append(await first)
        read.extend([numbered async for numbered in events])

    asyncio.run(asyncio.wait_for(fall_behind(), 60))
    assert len(read) <= 1
