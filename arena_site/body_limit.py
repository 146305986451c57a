"""ASGI middleware that limits the size of request bodies while they arrive.

Django stores a whole body in a temporary file before any view sees it, and a chunked body does not declare its length.
"""

import asyncio
import errno
import json
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from io import BytesIO
from typing import Any

from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.utils import translation

from benchmarks.errors import ImportTooLarge
from benchmarks.imports.limits import MAX_FILE_BYTES
from common.api.program_errors import PROGRAMS_PREFIX, program_error
from common.caching import PRIVATE
from common.errors import ArenaError, TooLarge
from gateway.parsing.json_body import MAX_BODY_BYTES
from uploads.actions import MAX_BYTES
from uploads.errors import FileTooLarge, StorageFull

App = Callable[[Any, Any, Any], Awaitable[None]]
Receive = Callable[[], Awaitable[Any]]
Headers = list[tuple[bytes, bytes]]

# Names and separators of a form with a file.
MULTIPART_OVERHEAD = 100_000
FILES: dict[str, tuple[type[ArenaError], int]] = {
    "/uploads/": (FileTooLarge, MAX_BYTES),
    "/api/v1/uploads/": (FileTooLarge, MAX_BYTES),
    "/benchmarks/import/": (ImportTooLarge, MAX_FILE_BYTES),
    "/api/v1/benchmarks/imports/": (ImportTooLarge, MAX_FILE_BYTES),
}
# Forms with ids in their paths.
FILE_FORM = re.compile(r"/benchmarks/t/[^/]+/cases/\d+/files/\Z")
DISCONNECT = {"type": "http.disconnect"}
# Proxies and programs that send a whole body before they read would find the connection cut, and nginx answers 502. So
# the answer follows the body; if that takes long, it comes amid the body and the connection stays open for a while.
MAX_DRAINED_BYTES = 64_000_000  # as many as docs/operating.md lets nginx pass on
MAX_DRAINED_BYTES_WITHOUT_LENGTH = 16_000_000
DRAIN_TIMEOUT_S, CLOSE_TIMEOUT_S = 5.0, 25.0


class BodyLimit:
    """Answers 413 to a too long body, 503 when the disk is full, reads on for a while, and closes the connection."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        # Twice Django's own limit, which answers with a page where it applies.
        too_large: type[ArenaError] = TooLarge
        remaining = 2 * (settings.DATA_UPLOAD_MAX_MEMORY_SIZE or 0)
        path = "/uploads/" if FILE_FORM.match(scope["path"]) else scope["path"]
        if path.startswith(PROGRAMS_PREFIX):
            remaining = MAX_BODY_BYTES + MULTIPART_OVERHEAD
        elif path in FILES:
            too_large, max_bytes = FILES[path]
            remaining = max_bytes + MULTIPART_OVERHEAD
        has_responded = False

        async def receive_within_limit() -> Any:
            nonlocal remaining
            message = await receive() if remaining >= 0 else DISCONNECT
            remaining -= len(message.get("body", b""))
            return message if remaining >= 0 else DISCONNECT

        async def send_response(message: Any) -> None:
            nonlocal has_responded
            has_responded = True
            await send(message)

        if _content_length(scope) > remaining:
            if _header(scope, b"expect").lower() == b"100-continue":  # the client has not begun to send
                receive = _disconnect
            return await _refuse(scope, receive, send, too_large)
        try:
            await self._app(scope, receive_within_limit, send_response)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT) or has_responded:
                raise
            return await _refuse(scope, receive, send, StorageFull)
        if remaining < 0 and not has_responded:
            await _refuse(scope, receive, send, too_large)
        return None


def _content_length(scope: dict[str, Headers]) -> int:
    value = _header(scope, b"content-length")
    return int(value) if value.isdigit() else 0


def _header(scope: dict[str, Headers], wanted: bytes) -> bytes:
    return next((value for name, value in scope["headers"] if name == wanted), b"")


async def _disconnect() -> object:
    return DISCONNECT


class _Rest:
    """The rest of a body, which is discarded up to a size."""

    def __init__(self, length: int, receive: Receive) -> None:
        self._receive = receive
        self._remaining = min(length, MAX_DRAINED_BYTES) or MAX_DRAINED_BYTES_WITHOUT_LENGTH

    async def discard(self, *, within: float) -> None:
        """Return when the client has sent everything or has left, at the size, or after so many seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                while self._remaining > 0:
                    message = await self._receive()
                    self._remaining = self._remaining - len(message["body"]) if message.get("more_body") else 0


async def _refuse(scope: Any, receive: Any, send: Any, refusal: type[ArenaError]) -> None:
    """Send JSON to an API client, otherwise the sentence alone, in the request's language."""
    with translation.override(
        translation.get_language_from_request(ASGIRequest({**scope, "method": "GET"}, BytesIO()))
    ):
        error = refusal()
    body, media_type = error.detail, "text/plain; charset=utf-8"
    if scope["path"].startswith("/api/"):
        body, media_type = json.dumps(error.as_json()), "application/json"
    elif scope["path"].startswith(PROGRAMS_PREFIX):
        body, media_type = json.dumps(program_error(scope["path"], error)), "application/json"
    headers = {"Content-Type": media_type, "X-Content-Type-Options": "nosniff", "Cache-Control": PRIVATE}
    headers |= {"Connection": "close", "Content-Length": str(len(body.encode())), **error.headers}
    encoded = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    rest = _Rest(_content_length(scope), receive)
    await rest.discard(within=DRAIN_TIMEOUT_S)
    await send({"type": "http.response.start", "status": error.http_status, "headers": encoded})
    await send({"type": "http.response.body", "body": body.encode(), "more_body": True})
    await rest.discard(within=CLOSE_TIMEOUT_S)
    await send({"type": "http.response.body"})
