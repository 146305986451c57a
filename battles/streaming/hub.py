"""One Valkey reader per web process: a single blocking read serves all followed streams."""

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from weakref import WeakKeyDictionary

import msgspec

from battles.streaming.protocol import FIELD, STREAM_TTL_S, TurnEvent
from common.valkey.connections import UNREACHABLE, new_async_connection, new_async_stream_reader

logger = logging.getLogger(__name__)

BLOCK_S = 10
# The pause after each read, so that the next one returns the entries of many turns together.
BATCH_DELAY_S = 0.02
# Entries queued for one listener: about a minute of a turn.
MAX_QUEUED = 1_000

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
        self._read_task: asyncio.Task[None] | None = None

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
        async with self._valkey.pipeline(transaction=False) as pipeline:
            pipeline.xadd(self._wake_key, {b"w": b""}, maxlen=1)
            pipeline.expire(self._wake_key, STREAM_TTL_S)
            await pipeline.execute()

    async def _read_all(self) -> None:
        while self._positions:
            positions: dict[Any, Any] = {**self._positions, self._wake_key: "$"}
            try:
                response = await self._reader.xread(positions, block=BLOCK_S * 1000)
            except UNREACHABLE as error:
                logger.warning("readers of streams wait for Valkey (%s)", error)
                await asyncio.sleep(1)
                continue
            for key, entries in _decoded(response, skip=self._wake_key):
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
