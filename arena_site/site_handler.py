"""ASGI handler that runs each request in one thread of a pool; figures: docs/adr/0040."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from typing import Any, TypeVar

from asgiref.sync import sync_to_async
from django.core import signals
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.core.handlers.base import BaseHandler
from django.db import connections
from django.http import FileResponse, HttpRequest
from django.http.response import HttpResponseBase
from django.urls import set_script_prefix
from django.utils import translation

from common.late_response import BrokenOff, LateResponse, request_threads

T = TypeVar("T")

# nginx's status for a client that left before the response's head.
CLIENT_LEFT = 499


class SiteHandler(ASGIHandler):
    """Runs a request in one thread from its first signal to its last, and streams on the event loop alone.

    There are as many threads as database connections: a crowd queues for a thread, not for a connection, which has a
    timeout. `/livez` has its own.
    """

    def __init__(self) -> None:
        BaseHandler.__init__(self)
        self.load_middleware(is_async=False)
        self._livez_threads = ThreadPoolExecutor(1, "livez")

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        # Does not call ASGIHandler's, which gives each request and each open stream a thread of its own.
        if scope["type"] != "http":
            raise ValueError(f"only HTTP is supported, not {scope['type']}")
        await self.handle(scope, receive, send)

    async def handle(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        with body:
            response: Any
            request, response = self.create_request(scope, body)
            if request is not None:
                threads = self._livez_threads if request.path_info == "/livez" else request_threads()
                response = await _run(threads, self._respond, scope, request)
            if response.streaming:
                await self._stream(response, receive, send, language=getattr(request, "LANGUAGE_CODE", ""))
            else:
                await self.send_response(response, send)

    def _respond(self, scope: Any, request: HttpRequest) -> HttpResponseBase:
        set_script_prefix(get_script_prefix(scope))
        signals.request_started.send(sender=self.__class__, scope=scope)
        try:
            response = self.get_response(request)
            response._handler_class = self.__class__  # type: ignore[attr-defined]
            if isinstance(response, FileResponse):
                response.block_size = self.chunk_size
            if not response.streaming:
                response.close()  # sends request_finished and closes the request's files
            return response
        finally:
            connections.close_all()  # returns them to the pool; connections belong to the thread

    async def _stream(self, response: HttpResponseBase, receive: Any, send: Any, *, language: str = "") -> None:
        """Send the response until it ends or the client disconnects."""
        leaving = asyncio.create_task(self.listen_for_disconnect(receive))
        sending = asyncio.create_task(self._begin_and_send(response, send, language))
        try:
            await asyncio.wait([leaving, sending], return_when=asyncio.FIRST_COMPLETED)
        finally:
            leaving.cancel()
            while not sending.done():
                # A library may lose a cancellation that meets its own timeout; the stream's slot would stay taken.
                sending.cancel()
                await asyncio.wait([sending], timeout=1)
            await asyncio.gather(leaving, return_exceptions=True)
            if isinstance(response, LateResponse):
                _report_status(response, CLIENT_LEFT if sending.cancelled() else 500)
                await response.end()
            if response.is_async:  # type: ignore[attr-defined]
                await _run(request_threads(), response.close)
            else:
                await sync_to_async(response.close)()  # in the thread that iterated over it and used its connection
        if not sending.cancelled():
            # Returning without the body's end makes the server close the connection.
            with suppress(BrokenOff):
                await sending

    async def _begin_and_send(
        self, response: HttpResponseBase, send: Callable[[Mapping[str, object]], Awaitable[None]], language: str
    ) -> None:
        if language:  # the request's thread had it; here it is that of this task alone
            translation.activate(language)
        if isinstance(response, LateResponse):
            await response.begin()
            # The status is reported after the head and the first piece, which are sent without waiting.
            asyncio.get_running_loop().call_soon(_report_status, response, response.status_code)
        await self.send_response(response, send)


async def _run(threads: ThreadPoolExecutor, function: Callable[..., T], *arguments: object) -> T:
    # Not by sync_to_async, which copies all context variables to the thread and back.
    return await asyncio.get_running_loop().run_in_executor(threads, copy_context().run, function, *arguments)


def _report_status(response: LateResponse, status: int) -> None:
    report, response.on_status = response.on_status, None
    if report is not None:
        report(status)
