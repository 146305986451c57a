"""How much somebody may send: counted while it comes in, before Django has seen any of it.

Django writes a whole request to a temporary file before it looks at it, however long it is, and one that is sent in
chunks says nothing about its length.
"""

import errno
import json
from collections.abc import Awaitable, Callable
from io import BytesIO
from typing import Any

from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.template.loader import render_to_string
from django.utils import translation

from common.caching import PRIVATE
from common.errors import ArenaError, TooLarge
from uploads.actions import MOST_BYTES
from uploads.errors import FileTooLarge, StorageFull

App = Callable[[Any, Any, Any], Awaitable[None]]

# Around a file, a form has names and separators.
AROUND_A_FILE = 100_000
UPLOADS = ("/uploads/", "/api/v1/uploads/")


class BodyLimit:
    """ASGI middleware: 413 once too much has come, 503 when there is no room to hold it; then the line is closed."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        is_upload = scope["path"] in UPLOADS
        # Twice what is read of anything else: what is a little too long is refused there, in better words.
        most = MOST_BYTES + AROUND_A_FILE if is_upload else 2 * (settings.DATA_UPLOAD_MAX_MEMORY_SIZE or 0)
        if _length(scope) > most:
            return await _refuse(scope, send, FileTooLarge if is_upload else TooLarge)
        sent = _Sent(receive, send, most)
        try:
            await self._app(scope, sent.receive, sent.send)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT) or sent.has_begun:
                raise
            return await _refuse(scope, send, StorageFull)
        if sent.is_too_much and not sent.has_begun:
            await _refuse(scope, send, FileTooLarge if is_upload else TooLarge)
        return None


class _Sent:
    """One request as it comes in; too long, it is as if the sender had hung up."""

    def __init__(self, receive: Any, send: Any, most: int) -> None:
        self._receive, self._send, self._left = receive, send, most
        self.has_begun = False

    @property
    def is_too_much(self) -> bool:
        return self._left < 0

    async def receive(self) -> Any:
        if self.is_too_much:
            return {"type": "http.disconnect"}
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        return {"type": "http.disconnect"} if self.is_too_much else message

    async def send(self, message: Any) -> None:
        self.has_begun = True
        await self._send(message)


def _length(scope: Any) -> int:
    said = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
    return int(said) if said.isdigit() else 0


async def _refuse(scope: Any, send: Any, refusal: type[ArenaError]) -> None:
    request = ASGIRequest({**scope, "method": "GET"}, BytesIO())
    with translation.override(translation.get_language_from_request(request)):
        error = refusal()
        media_type, body = _told(request, error)
    headers = {
        "Content-Type": media_type,
        "Content-Security-Policy": "default-src 'self'",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": PRIVATE,
        "Connection": "close",
        **error.headers,
    }
    await send(
        {
            "type": "http.response.start",
            "status": error.http_status,
            "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
        }
    )
    await send({"type": "http.response.body", "body": body.encode()})


def _told(request: ASGIRequest, error: ArenaError) -> tuple[str, str]:
    """(media type, body) for whoever asked: a program, a script of ours, a person at a page."""
    if request.path.startswith("/api/"):
        return "application/json", json.dumps(error.as_json())
    if "HX-Request" in request.headers:
        return "text/plain; charset=utf-8", error.detail
    return "text/html; charset=utf-8", render_to_string(error.page, {"error": error})
