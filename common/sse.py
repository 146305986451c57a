"""Server-sent events: how they are written, and the response that carries them."""

from collections.abc import AsyncIterator

from django.http import StreamingHttpResponse

KEEP_ALIVE = b": still here\n\n"


def event(name: str, data: str, *, id: str = "") -> bytes:
    """One event. Line ends inside `data` (LF, CR, CRLF) each begin a new data line."""
    lines = data.replace("\r\n", "\n").replace("\r", "\n").split("\n")  # splitlines() would cut at ten more characters
    head = f"id: {id}\nevent: {name}\n" if id else f"event: {name}\n"
    return (head + "".join(f"data: {line}\n" for line in lines) + "\n").encode()


def response(events: AsyncIterator[bytes]) -> StreamingHttpResponse:
    """Unbuffered, uncompressed, never cached."""
    return StreamingHttpResponse(
        events,
        content_type="text/event-stream; charset=utf-8",
        headers={"Cache-Control": "no-store, no-transform", "X-Accel-Buffering": "no"},
    )
