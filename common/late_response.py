"""Responses whose status is known only after waiting on the event loop, without a thread or a connection."""

from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache

from django.conf import settings
from django.http import StreamingHttpResponse


class LateResponse(StreamingHttpResponse):
    """Response that arena_site.site_handler prepares on the event loop, after all middleware has seen it.

    on_status: called once with the status: soon after the head is sent, or with 499 if the client has left before.
    """

    on_status: Callable[[int], None] | None = None

    async def begin(self) -> None:
        """Set status, headers and content. Cancelled when the client disconnects."""
        raise NotImplementedError

    async def end(self) -> None:
        """Clean up; awaited once, whether or not the response was sent."""


class BrokenOff(Exception):
    """Raised by a response's content to end the connection inside the body."""


async def once(body: bytes) -> AsyncIterator[bytes]:
    yield body


@cache
def request_threads() -> ThreadPoolExecutor:
    """Threads of this process for requests and work after them: as many as it may have database connections."""
    return ThreadPoolExecutor(settings.ARENA_DATABASE_POOL, "request")
