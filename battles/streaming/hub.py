"""One reader per web process: every followed stream is read in one blocking call, whatever the number of readers."""

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from weakref import WeakKeyDictionary

import msgspec

from battles.streaming.protocol import FIELD, LIFETIME_S, TurnEvent
from common.valkey.connections import UNREACHABLE, new_async_connection, new_async_reader

logger = logging.getLogger(__name__)

BLOCK_S = 10
# After news, the rest of the same tick is waited for: one read then brings the entries of many turns.
GATHER_S = 0.02
# Entries that wait for one reader: about a minute of a turn.
MAX_WAITING = 1_000

Entry = tuple[str, list[TurnEvent]]
_decoder = msgspec.json.Decoder(list[TurnEvent])


class LeftBehind(Exception):
    """Raised when too many entries wait for a reader; it has to reconnect with the last id it has."""


class Listener:
    """The entries that wait for one reader."""

    def __init__(self) -> None:
        self._waiting: asyncio.Queue[Entry] = asyncio.Queue(MAX_WAITING)
        self._is_left_behind = False

    def put(self, entry: Entry) -> None:
        """Add an entry without waiting; beyond MAX_WAITING of them, drop all and end the reader."""
        if self._is_left_behind:
            return
        if self._waiting.full():
            self._is_left_behind = True
            self._waiting = asyncio.Queue()
            return
        self._waiting.put_nowait(entry)

    async def get(self) -> Entry:
        """Raises LeftBehind."""
        if self._is_left_behind:
            raise LeftBehind
        return await self._waiting.get()


class StreamHub:
    """Belongs to one event loop. Hands each entry to everybody who listens to its stream."""

    def __init__(self) -> None:
        self._valkey = new_async_connection()
        self._reader = new_async_reader(patience_s=BLOCK_S + 5)
        self._listeners: dict[str, list[Listener]] = {}
        self._positions: dict[str, str] = {}
        self._wake_key = f"hub:{secrets.token_hex(8)}"
        self._reading: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def listening(self, key: str, after: str) -> AsyncIterator[tuple[list[Entry], Listener]]:
        """(what was missed since `after`, what comes from now on); an entry may be in both, its id tells."""
        news = Listener()
        others = self._listeners.setdefault(key, [])
        others.append(news)
        try:
            if key in self._positions:  # somebody else has read on already
                yield await self._read(key, after), news
            else:
                self._positions[key] = after
                await self._wake()
                yield [], news
        finally:
            others.remove(news)
            if not others:
                self._listeners.pop(key, None)
                self._positions.pop(key, None)

    async def _read(self, key: str, after: str) -> list[Entry]:
        """What the stream holds after `after`, now."""
        answer = await self._valkey.xread({key: after})
        return [entry for _, entries in _unpacked(answer) for entry in entries]

    async def exists(self, key: str) -> bool:
        return bool(await self._valkey.exists(key))

    async def _wake(self) -> None:
        """Have the blocking read begin again with the new stream among its keys."""
        if self._reading is None or self._reading.done():
            self._reading = asyncio.create_task(self._read_all())
            return
        async with self._valkey.pipeline(transaction=False) as pipeline:
            pipeline.xadd(self._wake_key, {b"w": b""}, maxlen=1)
            pipeline.expire(self._wake_key, LIFETIME_S)
            await pipeline.execute()

    async def _read_all(self) -> None:
        while self._positions:
            positions: dict[Any, Any] = {**self._positions, self._wake_key: "$"}
            try:
                answer = await self._reader.xread(positions, block=BLOCK_S * 1000)
            except UNREACHABLE as error:
                logger.warning("streams wait: Valkey is away (%s)", error)
                await asyncio.sleep(1)
                continue
            for key, entries in _unpacked(answer, but=self._wake_key):
                self._positions[key] = entries[-1][0]
                for listener in self._listeners.get(key, []):
                    for entry in entries:
                        listener.put(entry)
            await asyncio.sleep(GATHER_S)


def _unpacked(answer: Any, *, but: str = "") -> list[tuple[str, list[Entry]]]:
    return [
        (key.decode(), [(entry_id.decode(), _decoder.decode(fields[FIELD])) for entry_id, fields in entries])
        for key, entries in answer or []
        if key.decode() != but
    ]


_hubs: WeakKeyDictionary[asyncio.AbstractEventLoop, StreamHub] = WeakKeyDictionary()


def hub() -> StreamHub:
    """The hub of the running loop."""
    loop = asyncio.get_running_loop()
    if loop not in _hubs:
        _hubs[loop] = StreamHub()
    return _hubs[loop]
