"""Following a turn's stream: from where the reader was, to its end, without a query.

An event's SSE id is its entry's id, or `<entry id>.<n>` while n events of that entry have been sent and more
follow, so that a reader who was cut off inside an entry continues inside it.
"""

import asyncio
import re
from collections.abc import AsyncIterator
from typing import NamedTuple

from battles.streaming.hub import Entry, LeftBehind, hub
from battles.streaming.protocol import BEGINNING, TurnEvent
from common.valkey.connections import UNREACHABLE

QUIET_S = 15

_EVENT_ID = re.compile(r"(\d{1,20})-(\d{1,20})(?:\.(\d{1,9}))?", re.ASCII)
_LARGEST = 2**64 - 1  # either part of an entry's id


class Numbered(NamedTuple):
    id: str
    event: TurnEvent


class Gone(Exception):
    """Nothing came for a while and there is no such stream: it has expired, was flushed, or has not begun."""


async def follow(key: str, *, after: str) -> AsyncIterator[list[Numbered]]:
    """Events after the id `after`, until `end`; nothing ([]) when it was quiet for a while. Raises Gone.

    Stops without `end` when the reader falls far behind: it reconnects with the last id it has. Survives a Valkey that
    is away: it waits and goes on where it was.
    """
    position, skip = _resume_point(after)
    while True:
        try:
            async for entry_id, events in _entries(key, position):
                numbered = _numbered(entry_id, events)[skip:]
                if numbered or not events:
                    yield numbered
                if any(event.name == "end" for event in events):
                    return
                if events:
                    position, skip = entry_id, 0
        except UNREACHABLE:
            await asyncio.sleep(1)
            yield []
        except LeftBehind:
            return


async def _entries(key: str, after: str) -> AsyncIterator[Entry]:
    """Each entry after `after` once; ("", []) when it was quiet for a while."""
    last = _order(after)
    async with hub().listening(key, after) as (missed, news):
        for entry in missed:
            last = _order(entry[0])
            yield entry
        while True:
            try:
                async with asyncio.timeout(QUIET_S):  # wait_for() may swallow the cancellation of a reader who left
                    entry = await news.get()
            except TimeoutError:
                if not await hub().exists(key):
                    raise Gone from None
                yield "", []
                continue
            if _order(entry[0]) > last:
                last = _order(entry[0])
                yield entry


def _numbered(entry_id: str, events: list[TurnEvent]) -> list[Numbered]:
    last = len(events)
    return [
        Numbered(entry_id if number == last else f"{entry_id}.{number}", event)
        for number, event in enumerate(events, start=1)
    ]


def _order(entry_id: str) -> tuple[int, int]:
    milliseconds, _, sequence = entry_id.partition("-")
    return int(milliseconds), int(sequence)


def _resume_point(last_event_id: str) -> tuple[str, int]:
    """(XREAD position, events to skip in the entry after it); the beginning for anything that is not an id of ours.

    All readers of a process share one read: an id that Valkey refused would end it for everybody.
    """
    found = _EVENT_ID.fullmatch(last_event_id)
    milliseconds, sequence, seen = (int(part) for part in found.groups("0")) if found else (0, 0, 0)
    if max(milliseconds, sequence) > _LARGEST or (milliseconds, sequence) == (0, 0):
        return BEGINNING, 0
    if not seen:
        return f"{milliseconds}-{sequence}", 0
    if not sequence:
        return f"{milliseconds - 1}-{_LARGEST}", seen
    return f"{milliseconds}-{sequence - 1}", seen
