"""Connections to Valkey: one pool per process and kind, short timeouts, never an endless wait."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import redis
import redis.asyncio
from django.conf import settings

# One that answers is no better while it refuses: its memory or its disk is full, or it has become a replica.
UNREACHABLE = (redis.ConnectionError, redis.TimeoutError, redis.ResponseError, OSError)
PATIENCE_S = 0.5
# Once it did not answer, nobody in this process waits for it again for so long.
AWAY_S = 3.0
_away_until = 0.0


@cache
def pool() -> redis.BlockingConnectionPool:
    """For synchronous code. A burst of threads waits its turn; redis-py's own pool would refuse the 101st."""
    return redis.BlockingConnectionPool.from_url(
        settings.REDIS_URL,
        max_connections=50,
        timeout=5,
        socket_timeout=PATIENCE_S,
        socket_connect_timeout=PATIENCE_S,
        decode_responses=True,
    )


@cache
def connection() -> redis.Redis:
    """For synchronous code. Raises one of UNREACHABLE within about a second when Valkey is away, hung or full."""
    return redis.Redis(connection_pool=pool())


@contextmanager
def while_a_person_waits() -> Iterator[None]:
    """Around what needs Valkey: of all requests that meet it hung, only the first finds out by waiting.

    Raises one of UNREACHABLE, at once when Valkey did not answer a moment ago.
    """
    global _away_until
    if time.monotonic() < _away_until:
        raise redis.ConnectionError("it did not answer a moment ago")
    try:
        yield
    except UNREACHABLE:
        _away_until = time.monotonic() + AWAY_S
        raise


def is_away() -> bool:
    """Whether what needs Valkey is paused now."""
    try:
        with while_a_person_waits():
            connection().ping()
    except UNREACHABLE:
        return True
    return False


def new_async_connection() -> redis.asyncio.Redis:
    """For an event loop; the caller closes it. Bytes in, bytes out."""
    pool = redis.asyncio.BlockingConnectionPool.from_url(
        settings.REDIS_URL, max_connections=50, timeout=5, socket_timeout=5, socket_connect_timeout=2
    )
    return redis.asyncio.Redis(connection_pool=pool)


def new_async_reader(*, patience_s: float) -> redis.asyncio.Redis:
    """The same with one connection of its own, for who reads on and on: asking a pool costs more than the read."""
    return redis.asyncio.Redis.from_url(
        settings.REDIS_URL, single_connection_client=True, socket_timeout=patience_s, socket_connect_timeout=2
    )
