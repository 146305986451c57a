"""Connections to Valkey: one pool per process and kind, short timeouts, never an endless wait."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TypeVar

import redis
import redis.asyncio
from django.conf import settings

# One that answers is no better while it refuses: its memory or its disk is full, or it has become a replica.
UNREACHABLE = (redis.ConnectionError, redis.TimeoutError, redis.ResponseError, OSError)
SOCKET_TIMEOUT_S = 0.5
# How long the circuit breaker of this process stays open.
BREAKER_OPEN_S = 3.0
_away_until = 0.0
_has_missed = False

T = TypeVar("T")


@cache
def pool() -> redis.BlockingConnectionPool:
    """For synchronous code. A burst of threads waits its turn; redis-py's own pool would refuse the 101st."""
    return redis.BlockingConnectionPool.from_url(
        settings.REDIS_URL,
        max_connections=50,
        timeout=5,
        socket_timeout=SOCKET_TIMEOUT_S,
        socket_connect_timeout=SOCKET_TIMEOUT_S,
        decode_responses=True,
    )


@cache
def connection() -> redis.Redis:
    """For synchronous code. Raises one of UNREACHABLE within about a second when Valkey is away, hung or full."""
    return redis.Redis(connection_pool=pool())


@contextmanager
def fail_fast() -> Iterator[None]:
    """Circuit breaker: after two misses in a row, fail at once for BREAKER_OPEN_S seconds.

    A single slow reply is a stall, so after one miss the next caller pings first, and only a missed ping opens the
    breaker: calls that were caught by the same stall count once. A refusal (out of memory, disk full) opens it at once.
    Raises one of UNREACHABLE.
    """
    global _has_missed
    if is_open():
        raise redis.ConnectionError("it did not answer a moment ago")
    if _has_missed:
        _ping_or_open()
    try:
        yield
    except redis.ResponseError:
        _open()
        raise
    except UNREACHABLE:
        _has_missed = True
        raise


def is_open() -> bool:
    """Whether the circuit breaker is open."""
    return time.monotonic() < _away_until


def with_retry(call: Callable[[], T]) -> T:
    """Return `call()` from within fail_fast; one slow reply is tried again. Raises one of UNREACHABLE."""
    try:
        with fail_fast():
            return call()
    except UNREACHABLE:
        if is_open():
            raise
    with fail_fast():
        return call()


def is_away() -> bool:
    """Whether what needs Valkey is paused now."""
    try:
        with_retry(lambda: connection().ping())
    except UNREACHABLE:
        return True
    return False


def _ping_or_open() -> None:
    global _has_missed
    try:
        connection().ping()
    except UNREACHABLE:
        _open()
        raise
    _has_missed = False


def _open() -> None:
    global _away_until, _has_missed
    _away_until, _has_missed = time.monotonic() + BREAKER_OPEN_S, False


def rewrite_append_only_file() -> None:
    """Start rewriting the append-only file, where there is one: values that are gone leave the disk.

    Raises one of UNREACHABLE, also where the server does not allow it.
    """
    if connection().info("persistence").get("aof_enabled"):
        connection().bgrewriteaof()


def new_async_connection() -> redis.asyncio.Redis:
    """For an event loop; the caller closes it. Bytes in, bytes out."""
    pool = redis.asyncio.BlockingConnectionPool.from_url(
        settings.REDIS_URL, max_connections=50, timeout=5, socket_timeout=5, socket_connect_timeout=2
    )
    return redis.asyncio.Redis(connection_pool=pool)


def new_async_stream_reader(*, timeout_s: float) -> redis.asyncio.Redis:
    """The same with one connection of its own, for who reads on and on: asking a pool costs more than the read."""
    return redis.asyncio.Redis.from_url(
        settings.REDIS_URL, single_connection_client=True, socket_timeout=timeout_s, socket_connect_timeout=2
    )
