"""Turn streams followed without a database query.

An event's SSE id is its entry's id, or `<entry id>.<n>` after n of the entry's events, so that readers can reconnect
inside an entry.
"""

import asyncio
import re
from collections.abc import AsyncIterator
from typing import NamedTuple

from battles.streaming.hub import Entry, ListenerTooSlow, get_hub
from battles.streaming.protocol import BEGINNING, TurnEvent
from common.valkey.connections import UNREACHABLE

KEEP_ALIVE_S = 15

_EVENT_ID = re.compile(r"(\d{1,20})-(\d{1,20})(?:\.(\d{1,9}))?", re.ASCII)
_MAX_ID_PART = 2**64 - 1


class NumberedEvent(NamedTuple):
    id: str
    event: TurnEvent


class StreamExpired(Exception):
    """Raised when nothing came for KEEP_ALIVE_S and the stream does not exist."""


async def follow(key: str, *, after: str) -> AsyncIterator[list[NumberedEvent]]:
    """Yield events after the id `after` until `end`, and [] after each quiet KEEP_ALIVE_S. Raises StreamExpired.

    Stops without `end` when the reader is too slow. Waits while Valkey is unreachable.
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
        except ListenerTooSlow:
            return


async def _entries(key: str, after: str) -> AsyncIterator[Entry]:
    """Yield each entry after `after` once, and ("", []) after each quiet KEEP_ALIVE_S."""
    last = _entry_key(after)
    async with get_hub().subscribe(key, after) as (missed, listener):
        for entry in missed:
            last = _entry_key(entry[0])
            yield entry
        while True:
            try:
                async with asyncio.timeout(KEEP_ALIVE_S):  # wait_for() may lose the reader's cancellation
                    entry = await listener.get()
            except TimeoutError:
                if not await get_hub().exists(key):
                    raise StreamExpired from None
                yield "", []
                continue
            if _entry_key(entry[0]) > last:
                last = _entry_key(entry[0])
                yield entry


def _numbered(entry_id: str, events: list[TurnEvent]) -> list[NumberedEvent]:
    last = len(events)
    return [
        NumberedEvent(entry_id if number == last else f"{entry_id}.{number}", event)
        for number, event in enumerate(events, start=1)
    ]


def _entry_key(entry_id: str) -> tuple[int, int]:
    milliseconds, _, sequence = entry_id.partition("-")
    return int(milliseconds), int(sequence)


def _resume_point(last_event_id: str) -> tuple[str, int]:
    """Return the XREAD position and the events to skip after it; the beginning for an invalid id.

    All readers of a process share one read, which an id that Valkey refuses would end.
    """
    match = _EVENT_ID.fullmatch(last_event_id)
    milliseconds, sequence, seen = (int(part) for part in match.groups("0")) if match else (0, 0, 0)
    if max(milliseconds, sequence) > _MAX_ID_PART or (milliseconds, sequence) == (0, 0):
        return BEGINNING, 0
    if not seen:
        return f"{milliseconds}-{sequence}", 0
    if not sequence:
        return f"{milliseconds - 1}-{_MAX_ID_PART}", seen
    return f"{milliseconds}-{sequence - 1}", seen
