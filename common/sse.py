from collections.abc import AsyncIterator
from contextlib import aclosing

from django.http import HttpRequest, StreamingHttpResponse

from common.client_ip import network_hash
from common.valkey import counters, stream_slots

KEEP_ALIVE = b": still here\n\n"


def event(name: str, data: str, *, id: str = "") -> bytes:
    """Format one event. Each line end inside `data` (LF, CR, CRLF) begins a new data line."""
    lines = data.replace("\r\n", "\n").replace("\r", "\n").split("\n")  # splitlines() also cuts at ten other characters
    head = f"id: {id}\nevent: {name}\n" if id else f"event: {name}\n"
    return (head + "".join(f"data: {line}\n" for line in lines) + "\n").encode()


def end() -> bytes:
    return event("end", "")


class EventStreamResponse(StreamingHttpResponse):
    """Unbuffered, uncompressed, uncached response; holds a stream slot until it is closed."""

    def __init__(self, request: HttpRequest, events: AsyncIterator[bytes], *, person: str) -> None:
        """person: stream_slots.person_hash; if "", the network counts. Raises TooManyStreams.

        Blocks on Valkey, so do not call it in an event loop.
        """
        network = network_hash(request)
        self._slot = stream_slots.acquire(person=person or network, network=network)
        super().__init__(
            _counted(events),
            content_type="text/event-stream; charset=utf-8",
            headers={"Cache-Control": "private, no-store, no-transform", "X-Accel-Buffering": "no"},
        )

    def close(self) -> None:
        super().close()
        self._slot.release()


async def _counted(events: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    counters.add_to_gauge("streams")
    try:
        async with aclosing(events):  # type: ignore[type-var]  # generators, all of them
            async for piece in events:
                yield piece
    finally:
        counters.add_to_gauge("streams", -1)
