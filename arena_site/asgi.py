"""What a web process serves."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import django
from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.core.handlers.base import BaseHandler
from django.http import HttpRequest
from django.http.response import HttpResponseBase

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arena_site.settings.local")
django.setup(set_prefix=False)

from django.conf import settings  # noqa: E402
from django.db import connections  # noqa: E402

from arena_site.body_limit import BodyLimit  # noqa: E402

# Threads that hold a lock in the database wait for the interpreter's lock too; 5 ms a turn adds up to a queue.
SWITCH_INTERVAL_S = 0.001


class SiteHandler(ASGIHandler):
    """Django's handler, made for many requests at once in one process.

    The middleware runs synchronously, in the view's own thread: as coroutines, each one would hop to a thread and
    back twice per request. There are as many threads as the process has database connections, so that a crowd waits
    for a thread and not, with a time limit, for a connection. An open stream keeps no thread.
    """

    def __init__(self) -> None:
        BaseHandler.__init__(self)
        self.load_middleware(is_async=False)
        threads = ThreadPoolExecutor(settings.ARENA_DATABASE_POOL, thread_name_prefix="request")
        self._respond_in_a_thread = sync_to_async(self._respond, thread_sensitive=False, executor=threads)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        # Not ASGIHandler's: that gives each request, and each open stream, a thread of its own.
        if scope["type"] != "http":
            raise ValueError(f"the arena speaks HTTP, not {scope['type']}")
        await self.handle(scope, receive, send)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        return await self._respond_in_a_thread(request)

    def _respond(self, request: HttpRequest) -> HttpResponseBase:
        try:
            return self.get_response(request)
        finally:
            connections.close_all()  # back to the pool, from the thread that borrowed it


sys.setswitchinterval(SWITCH_INTERVAL_S)
application = BodyLimit(SiteHandler())
