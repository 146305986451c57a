"""Responses whose status is known only after waiting on the event loop, without a thread or a connection."""

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import cache, partial
from typing import ParamSpec, TypeVar

from django.conf import settings
from django.http import StreamingHttpResponse

from common.db.execution import run_and_release, with_retry

P = ParamSpec("P")
T = TypeVar("T")


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


def in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> "asyncio.Future[T]":
    """Run `work` in a thread of requests."""
    run = partial(copy_context().run, run_and_release, partial(work, *args, **kwargs))
    return asyncio.get_running_loop().run_in_executor(request_threads(), run)


async def in_thread_with_retry(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Retry as common.db.execution.run_in_db_with_retry."""
    return await with_retry(partial(in_thread, work, *args, **kwargs), name=getattr(work, "__name__", str(work)))
