"""Connections to Valkey: one pool per process and kind, short timeouts."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TypeVar

import redis
import redis.asyncio
from django.conf import settings

# ResponseError is one of them: a server whose memory or disk is full, or that became a replica, refuses writes.
UNREACHABLE = (redis.ConnectionError, redis.TimeoutError, redis.ResponseError, OSError)
SOCKET_TIMEOUT_S = 0.5
# How long the circuit breaker of this process stays open.
BREAKER_OPEN_S = 3.0
_away_until = 0.0
_has_missed = False

T = TypeVar("T")


@cache
def pool() -> redis.BlockingConnectionPool:
    """Pool for synchronous code; threads wait for a free connection, where redis-py's default pool raises."""
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
    """Client for synchronous code. Raises one of UNREACHABLE within about a second."""
    return redis.Redis(connection_pool=pool())


@contextmanager
def fail_fast() -> Iterator[None]:
    """Circuit breaker: after two timeouts in a row, fail at once for BREAKER_OPEN_S seconds. Raises UNREACHABLE."""
    # One slow reply may be a stall, so after a timeout the next caller pings first, and only a failed ping opens the
    # breaker: calls caught by the same stall count once. A refusal (out of memory, disk full) opens it at once.
    global _has_missed
    if is_open():
        raise redis.ConnectionError("circuit breaker is open: Valkey did not reply")
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
    return time.monotonic() < _away_until


def with_retry(call: Callable[[], T]) -> T:
    """Return `call()` within fail_fast, retried once after a slow reply. Raises one of UNREACHABLE."""
    try:
        with fail_fast():
            return call()
    except UNREACHABLE:
        if is_open():
            raise
    with fail_fast():
        return call()


def is_away() -> bool:
    """Return whether the breaker is open, or a ping and its retry failed."""
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
    """Start rewriting the append-only file: deleted values leave the disk. Raises one of UNREACHABLE."""
    if connection().info("persistence").get("aof_enabled"):
        connection().bgrewriteaof()


def new_async_connection() -> redis.asyncio.Redis:
    """Return a client for an event loop, which the caller closes. Bytes in, bytes out."""
    pool = redis.asyncio.BlockingConnectionPool.from_url(
        settings.REDIS_URL, max_connections=50, timeout=5, socket_timeout=5, socket_connect_timeout=2
    )
    return redis.asyncio.Redis(connection_pool=pool)


def new_async_stream_reader(*, timeout_s: float) -> redis.asyncio.Redis:
    """Return a client with one connection for continuous reads: a pool's checks cost more than a read."""
    return redis.asyncio.Redis.from_url(
        settings.REDIS_URL, single_connection_client=True, socket_timeout=timeout_s, socket_connect_timeout=2
    )
