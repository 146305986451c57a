"""Django's ASGI handler, made for many requests at once in one process."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings
from django.core import signals
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.core.handlers.base import BaseHandler
from django.db import connections
from django.http import FileResponse, HttpRequest
from django.http.response import HttpResponseBase
from django.urls import set_script_prefix


class SiteHandler(ASGIHandler):
    """A request takes one thread, once, and a stream takes none.

    The middleware runs synchronously, in the view's own thread: as coroutines, each one would hop to a thread and
    back twice per request. So do the signals around a request, for which Django hops four times. There are as many
    threads as the process has database connections, so that a crowd waits for a thread and not, with a time limit,
    for a connection. Whoever asks whether the process lives does not wait in that crowd, which is a long one while the
    database is away.
    """

    def __init__(self) -> None:
        BaseHandler.__init__(self)
        self.load_middleware(is_async=False)
        self._respond_in_a_thread = self._in_threads(settings.ARENA_DATABASE_POOL, "request")
        self._respond_apart = self._in_threads(1, "livez")

    def _in_threads(self, number: int, name: str) -> Callable[[Any, HttpRequest], Awaitable[HttpResponseBase]]:
        return sync_to_async(self._respond, thread_sensitive=False, executor=ThreadPoolExecutor(number, name))

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        # Not ASGIHandler's: that gives each request, and each open stream, a thread of its own.
        if scope["type"] != "http":
            raise ValueError(f"the arena speaks HTTP, not {scope['type']}")
        await self.handle(scope, receive, send)

    async def handle(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        with body:
            request, refusal = self.create_request(scope, body)
            response: Any = refusal if request is None else await self._answer(scope, request)
            if response.streaming:
                await self._stream(response, receive, send)
            else:
                await self.send_response(response, send)

    async def _answer(self, scope: Any, request: HttpRequest) -> HttpResponseBase:
        respond = self._respond_apart if request.path_info == "/livez" else self._respond_in_a_thread
        return await respond(scope, request)

    def _respond(self, scope: Any, request: HttpRequest) -> HttpResponseBase:
        set_script_prefix(get_script_prefix(scope))
        signals.request_started.send(sender=self.__class__, scope=scope)
        try:
            response = self.get_response(request)
            response._handler_class = self.__class__  # type: ignore[attr-defined]
            if isinstance(response, FileResponse):
                response.block_size = self.chunk_size
            if not response.streaming:
                response.close()  # the signal that it is finished, and what the request has open
            return response
        finally:
            connections.close_all()  # back to the pool, from the thread that borrowed it

    async def _stream(self, response: HttpResponseBase, receive: Any, send: Any) -> None:
        """Until it ends, or the reader leaves."""
        leaving = asyncio.create_task(self.listen_for_disconnect(receive))
        sending = asyncio.create_task(self.send_response(response, send))
        try:
            await asyncio.wait([leaving, sending], return_when=asyncio.FIRST_COMPLETED)
        finally:
            leaving.cancel()
            sending.cancel()
            _, ended = await asyncio.gather(leaving, sending, return_exceptions=True)
            await sync_to_async(response.close)()  # in the thread that read, and asked the database for, its pieces
        if isinstance(ended, Exception):
            raise ended
