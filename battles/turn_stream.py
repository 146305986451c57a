"""One Valkey stream per turn: what is in it, and how a reader follows it without a query.

An entry holds the events of one tick, both sides together. An event's SSE id is `<entry id>`, or
`<entry id>.<n>` while n events of that entry have been sent and more follow, so that a reader who was
cut off inside an entry continues inside it.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Any, Literal, NamedTuple

import msgspec
import redis.asyncio
from django.core import signing

from common.errors import NotFound
from common.valkey import UNREACHABLE, new_async_connection

logger = logging.getLogger(__name__)

EventName = Literal["text", "block", "state", "reset", "end"]
Format = Literal["page", "api"]

LIFETIME_S = 3600
QUIET_S = 15
BEGINNING = "0-0"
_FIELD = b"e"
_SALT = "battles.turn_stream"


class TurnEvent(msgspec.Struct, array_like=True):
    name: EventName
    side: str = ""
    value: str = ""


class Numbered(NamedTuple):
    id: str
    event: TurnEvent


class StreamToken(NamedTuple):
    """What a reader may follow, signed: no query is needed to believe it."""

    battle: str
    turn_index: int
    format: Format
    round: int = 0

    @property
    def key(self) -> str:
        return stream_key(self.battle, self.turn_index, self.round)


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(list[TurnEvent])


def stream_key(battle_public_id: str, turn_index: int, round: int = 0) -> str:
    """Every round of a turn (it is regenerated at most once) has a stream of its own: the earlier one has ended."""
    return f"turn:{battle_public_id}:{turn_index}:{round}"


def sign(token: StreamToken) -> str:
    return signing.dumps(list(token), salt=_SALT, compress=True)


def read_or_404(signed: str) -> StreamToken:
    """Raises NotFound for a forged token or one that is older than its hour."""
    try:
        return StreamToken(*signing.loads(signed, salt=_SALT, max_age=LIFETIME_S))
    except (signing.BadSignature, TypeError, ValueError) as error:
        raise NotFound from error


def entry(events: list[TurnEvent]) -> dict[Any, Any]:
    """The fields of the stream entry that carries `events`."""
    return {_FIELD: _encoder.encode(events)}


class Gone(Exception):
    """Nothing came for a while and there is no such stream: it has expired, was flushed, or has not begun."""


async def follow(key: str, *, after: str) -> AsyncIterator[Numbered | None]:
    """Events after the id `after`, until `end`; None when it was quiet for a while. Raises Gone.

    Survives a Valkey that is away: it waits and goes on where it was.
    """
    position, skip = _resume_point(after)
    connection = new_async_connection(max_connections=1, socket_timeout=QUIET_S + 5)
    try:
        while True:
            try:
                entries = await _read(connection, key, position)
                if not entries and not await connection.exists(key):
                    raise Gone
            except UNREACHABLE:
                await asyncio.sleep(1)
                yield None
                continue
            if not entries:
                yield None
            for entry_id, events in entries:
                for number, event in enumerate(events, start=1):
                    if number > skip:
                        yield Numbered(entry_id if number == len(events) else f"{entry_id}.{number}", event)
                        if event.name == "end":
                            return
                position, skip = entry_id, 0
    finally:
        await connection.aclose(close_connection_pool=True)


async def _read(connection: redis.asyncio.Redis, key: str, after: str) -> list[tuple[str, list[TurnEvent]]]:
    answer: Any = await connection.xread({key: after}, count=200, block=QUIET_S * 1000)
    if not answer:
        return []
    [(_, entries)] = answer
    return [(entry_id.decode(), _decoder.decode(fields[_FIELD])) for entry_id, fields in entries]


def _resume_point(last_event_id: str) -> tuple[str, int]:
    """(XREAD position, events to skip in the entry after it); the beginning for anything that is not an id of ours."""
    entry_id, _, seen = last_event_id.partition(".")
    milliseconds, _, sequence = entry_id.partition("-")
    if not (milliseconds.isascii() and milliseconds.isdigit() and sequence.isascii() and sequence.isdigit()):
        return BEGINNING, 0
    if not seen:
        return f"{int(milliseconds)}-{int(sequence)}", 0
    if not (seen.isascii() and seen.isdigit()):
        return BEGINNING, 0
    if not int(sequence):
        return f"{int(milliseconds) - 1}-{2**64 - 1}", int(seen)
    return f"{int(milliseconds)}-{int(sequence) - 1}", int(seen)
