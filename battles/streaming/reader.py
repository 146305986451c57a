"""Turn streams followed without a database query: one blocking read of Valkey serves all readers of a web process.

An event's SSE id is its entry's id, or `<entry id>.<n>` after n of the entry's events, so that readers can reconnect
inside an entry.
"""

import asyncio
import logging
import re
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import msgspec

from battles.streaming.protocol import BEGINNING, FIELD, STREAM_TTL_S, TurnEvent
from common.valkey.connections import UNREACHABLE, new_async_connection, new_async_stream_reader

logger = logging.getLogger(__name__)

BLOCK_S = 10
# The pause after each read, so that the next one returns the entries of many turns together.
BATCH_DELAY_S = 0.02
# Entries queued for one listener: about a minute of a turn.
MAX_QUEUED = 1_000
KEEP_ALIVE_S = 15

_EVENT_ID = re.compile(r"(\d{1,20})-(\d{1,20})(?:\.(\d{1,9}))?", re.ASCII)
_MAX_ID_PART = 2**64 - 1

Entry = tuple[str, list[TurnEvent]]
_decoder = msgspec.json.Decoder(list[TurnEvent])


class ListenerTooSlow(Exception):
    """Raised when a listener's queue overflowed: its reader has to reconnect."""


class Listener:
    """Queue of entries for one reader."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[Entry] = asyncio.Queue(MAX_QUEUED)
        self._has_overflowed = False

    def put(self, entry: Entry) -> None:
        """Add an entry; drop all when the queue is full."""
        if self._has_overflowed:
            return
        if self._queue.full():
            self._has_overflowed = True
            self._queue = asyncio.Queue()
            return
        self._queue.put_nowait(entry)

    async def get(self) -> Entry:
        """Raises ListenerTooSlow."""
        if self._has_overflowed:
            raise ListenerTooSlow
        return await self._queue.get()


class StreamHub:
    """Distributes entries to listeners. Belongs to one event loop."""

    def __init__(self) -> None:
        self._valkey = new_async_connection()
        self._reader = new_async_stream_reader(timeout_s=BLOCK_S + 5)
        self._listeners: dict[str, list[Listener]] = {}
        self._positions: dict[str, str] = {}
        self._wake_key = f"hub:{secrets.token_hex(8)}"
        self._wake_position = BEGINNING  # not "$": the entry may arrive before the read that it is to end
        self._read_task: asyncio.Task[None] | None = None
        self._is_blocked = False  # in a read that an entry of our own has not ended yet

    @asynccontextmanager
    async def subscribe(self, key: str, after: str) -> AsyncIterator[tuple[list[Entry], Listener]]:
        """Yield entries since `after` and a listener for later ones; an entry may be in both."""
        listener = Listener()
        listeners = self._listeners.setdefault(key, [])
        listeners.append(listener)
        try:
            if key in self._positions:  # another listener's position may be past `after`
                yield await self._read(key, after), listener
            else:
                self._positions[key] = after
                await self._restart_read()
                yield [], listener
        finally:
            listeners.remove(listener)
            if not listeners:
                self._listeners.pop(key, None)
                self._positions.pop(key, None)

    async def _read(self, key: str, after: str) -> list[Entry]:
        response = await self._valkey.xread({key: after})
        return [entry for _, entries in _decoded(response) for entry in entries]

    async def exists(self, key: str) -> bool:
        return bool(await self._valkey.exists(key))

    async def _restart_read(self) -> None:
        """End the blocking read by an entry of its own: the next read includes new streams."""
        if self._read_task is None or self._read_task.done():
            self._read_task = asyncio.create_task(self._read_all())
            return
        if not self._is_blocked:  # the next read begins within BATCH_DELAY_S
            return
        self._is_blocked = False  # readers that come meanwhile need no entry of their own
        try:
            async with self._valkey.pipeline(transaction=False) as pipeline:
                pipeline.xadd(self._wake_key, {b"w": b""}, maxlen=1)
                pipeline.expire(self._wake_key, STREAM_TTL_S)
                self._wake_position = (await pipeline.execute())[0].decode()
        except UNREACHABLE:
            self._is_blocked = True
            raise

    async def _read_all(self) -> None:
        while self._positions:
            positions: dict[Any, Any] = {**self._positions, self._wake_key: self._wake_position}
            self._is_blocked = True
            try:
                response = await self._reader.xread(positions, block=BLOCK_S * 1000)
            except UNREACHABLE as error:
                logger.warning("readers of streams wait for Valkey (%s)", error)
                await asyncio.sleep(1)
                continue
            finally:
                self._is_blocked = False
            for key, entries in _decoded(response, skip=self._wake_key):
                if self._positions.get(key) != positions[key]:  # of another reader, who came after this read began
                    continue
                self._positions[key] = entries[-1][0]
                for listener in self._listeners.get(key, []):
                    for entry in entries:
                        listener.put(entry)
            await asyncio.sleep(BATCH_DELAY_S)


def _decoded(response: Any, *, skip: str = "") -> list[tuple[str, list[Entry]]]:
    return [
        (key.decode(), [(entry_id.decode(), _decoder.decode(fields[FIELD])) for entry_id, fields in entries])
        for key, entries in response or []
        if key.decode() != skip
    ]


_hubs: WeakKeyDictionary[asyncio.AbstractEventLoop, StreamHub] = WeakKeyDictionary()


def get_hub() -> StreamHub:
    loop = asyncio.get_running_loop()
    if loop not in _hubs:
        _hubs[loop] = StreamHub()
    return _hubs[loop]


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
