"""Server-sent events: how they are written, and the response that carries them."""

from collections.abc import AsyncIterator
from contextlib import aclosing

from django.http import StreamingHttpResponse

from common import counters

KEEP_ALIVE = b": still here\n\n"


def event(name: str, data: str, *, id: str = "") -> bytes:
    """One event. Line ends inside `data` (LF, CR, CRLF) each begin a new data line."""
    lines = data.replace("\r\n", "\n").replace("\r", "\n").split("\n")  # splitlines() would cut at ten more characters
    head = f"id: {id}\nevent: {name}\n" if id else f"event: {name}\n"
    return (head + "".join(f"data: {line}\n" for line in lines) + "\n").encode()


def response(events: AsyncIterator[bytes]) -> StreamingHttpResponse:
    """Unbuffered, uncompressed, never cached."""
    return StreamingHttpResponse(
        _counted(events),
        content_type="text/event-stream; charset=utf-8",
        headers={"Cache-Control": "no-store, no-transform", "X-Accel-Buffering": "no"},
    )


async def _counted(events: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    counters.raise_level("streams")
    try:
        async with aclosing(events):  # type: ignore[type-var]  # generators, all of them
            async for piece in events:
                yield piece
    finally:
        counters.raise_level("streams", -1)
