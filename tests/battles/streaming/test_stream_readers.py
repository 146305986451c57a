import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

from battles.streaming import reader as stream_reader
from battles.streaming.protocol import BEGINNING, TurnEvent, entry
from battles.streaming.reader import Entry, NumberedEvent, follow, get_hub
from common.valkey.connections import connection
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


def test_new_reader_is_not_served_by_read_of_earlier_one(monkeypatch: pytest.MonkeyPatch):
    key, texts = "turn:x:0:0", ["one", "two"]

    async def come_back() -> list[str]:
        hub = get_hub()
        restart_read = hub._restart_read

        async def restart_late() -> None:
            """Let the read for the earlier reader return first."""
            await _until(lambda: hub._is_blocked)
            _add(key, texts[1])
            await _until(lambda: not hub._is_blocked)
            await restart_read()

        _add(key, texts[0])
        async with hub.subscribe(key, BEGINNING) as (_, earlier):
            await earlier.get()
        monkeypatch.setattr(hub, "_restart_read", restart_late)
        async with hub.subscribe(key, BEGINNING) as (_, later):
            return [event.value for _ in texts for event in (await later.get())[1]]

    assert asyncio.run(asyncio.wait_for(come_back(), 60)) == texts


async def _until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110 (the hub tells of no read)
        await asyncio.sleep(0.01)


def _add(key: str, text: str) -> None:
    connection().xadd(key, entry([TurnEvent("text", "left", text)]))


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
