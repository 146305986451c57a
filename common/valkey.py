"""Connections to Valkey: one pool per process and kind, short timeouts, never an endless wait."""

from functools import cache

import redis
import redis.asyncio
from django.conf import settings

UNREACHABLE = (redis.ConnectionError, redis.TimeoutError, OSError)


@cache
def pool() -> redis.BlockingConnectionPool:
    """For synchronous code. A burst of threads waits its turn; redis-py's own pool would refuse the 101st."""
    return redis.BlockingConnectionPool.from_url(
        settings.REDIS_URL,
        max_connections=50,
        timeout=5,
        socket_timeout=2,
        socket_connect_timeout=2,
        decode_responses=True,
    )


@cache
def connection() -> redis.Redis:
    """For synchronous code. Raises one of UNREACHABLE within about two seconds when Valkey is away or hung."""
    return redis.Redis(connection_pool=pool())


def new_async_connection(*, max_connections: int = 50, socket_timeout: float = 5) -> redis.asyncio.Redis:
    """For an event loop; the caller closes it. Bytes in, bytes out."""
    pool = redis.asyncio.BlockingConnectionPool.from_url(
        settings.REDIS_URL,
        max_connections=max_connections,
        timeout=5,
        socket_timeout=socket_timeout,
        socket_connect_timeout=2,
    )
    return redis.asyncio.Redis(connection_pool=pool)
