"""List in Valkey of turns to answer: docs/adr/0005."""

from collections.abc import Sequence
from typing import NamedTuple, cast

import redis.asyncio

from common import logs
from common.valkey.connections import connection, new_async_stream_reader

KEY = "queued-turns"
BLOCK_S = 4


class QueuedTurn(NamedTuple):
    turn_id: int
    request_id: str = ""  # of the request that queued the turn


def push(turn_id: int) -> None:
    """Raises one of UNREACHABLE."""
    connection().rpush(KEY, f"{turn_id} {logs.current_request_id()}")


def new_reader() -> redis.asyncio.Redis:
    return new_async_stream_reader(timeout_s=BLOCK_S + 5)


async def pop(reader: redis.asyncio.Redis, *, at_most: int) -> Sequence[QueuedTurn]:
    """Wait for turns, for BLOCK_S at most; return all that wait. Raises one of UNREACHABLE."""
    popped = await reader.blmpop(BLOCK_S, 1, KEY, direction="LEFT", count=at_most)
    if not popped:
        return []
    parts = (message.decode().partition(" ") for message in cast("list[bytes]", popped[1]))
    return [QueuedTurn(int(turn_id), request_id) for turn_id, _, request_id in parts]
