import asyncio
import time
from collections.abc import AsyncIterator, Iterable
from urllib.parse import quote

import msgspec
from django.conf import settings
from django.http import HttpResponseBase

from accounts.models import Scope
from accounts.open_streams import StreamRight, until_lost, was_cancelled_by_loss, watched
from common import tracing
from common.errors import ArenaError, NotSignedIn
from common.late_response import BrokenOff, LateResponse, once
from common.payload_types import JsonObject
from gateway.answers.slots import RequestSlot
from gateway.authentication import Caller
from gateway.doors.port import Door

HEADERS = {"Cache-Control": "private, no-store, no-transform", "X-Accel-Buffering": "no"}
# A stream's head waits for so long, so that a refusal keeps its status.
HEAD_S = 10.0
# While a model is silent, a comment or a blank is sent this often.
KEEP_ALIVE_S = 10.0
EVENT_STREAM = "text/event-stream; charset=utf-8"
# Names of dropped fields come from the caller, and headers have a limit.
MAX_DROPPED, MAX_DROPPED_CHARACTERS = 20, 60

# A payload, or a stream's events.
Content = JsonObject | AsyncIterator[bytes]


class CompletionResponse(LateResponse):
    """JSON, or an event stream; both end when the caller's right is lost.

    Its head waits for the answer's beginning for some seconds: docs/adr/0058. slot: freed at the end, or when a
    response that never begins is collected.
    """

    def __init__(self, slot: RequestSlot, caller: Caller, door: Door, *, is_stream: bool) -> None:
        super().__init__(iter(()), content_type="application/json", headers=HEADERS)
        self._slot, self._door, self._is_stream = slot, door, is_stream
        self._right = StreamRight(caller.actor.key, caller.token.pk, scope=Scope.GATEWAY)
        self._created = int(time.time())
        self._answering: asyncio.Task[Content] | None = None
        self._span = tracing.NO_SPAN

    def take_over(self, span: tracing.Span) -> None:
        """Keep the span open until the answer's end."""
        span.stay_open()
        self._span = span

    async def begin(self) -> None:
        self._span.make_current()
        try:
            with watched(self._right):
                self._answering = answering = asyncio.create_task(self._answer())
                patience = HEAD_S if self._is_stream else settings.ARENA_GATEWAY_BLANKS_AFTER_S or None
                await asyncio.wait([answering], timeout=patience)
        except asyncio.CancelledError:
            if not was_cancelled_by_loss(self._right):
                raise
            self._refuse(NotSignedIn())
            return
        if not answering.done():
            self._begin_late(answering)
            return
        try:
            content = answering.result()
        except ArenaError as refusal:
            self._refuse(refusal)
            return
        if isinstance(content, dict):
            self._set_body(content)
        else:
            self._set_stream(content)

    async def _answer(self) -> "Content":
        """Return the payload, or a stream's events once the answer has begun. Raises ArenaError."""
        raise NotImplementedError

    async def end(self) -> None:
        self._span.end()
        # Now: an exception's traceback may keep this response alive until a later garbage collection.
        self._slot.free()

    async def _stop_answering(self) -> None:
        if self._answering is not None:
            self._answering.cancel()
            await asyncio.gather(self._answering, return_exceptions=True)

    def _set_stream(self, chunks: AsyncIterator[bytes]) -> None:
        self.headers["Content-Type"] = EVENT_STREAM
        self.streaming_content = until_lost(chunks, self._right, last=self._lost)

    def _lost(self) -> bytes:
        return self._door.error_event(NotSignedIn())

    def _begin_late(self, answering: "asyncio.Task[Content]") -> None:
        """Send the head before the answer's status is known."""
        if self._is_stream:
            self._set_stream(self._late_events(answering))
        else:
            self.streaming_content = until_lost(self._late_body(answering), self._right)

    async def _late_events(self, answering: "asyncio.Task[Content]") -> AsyncIterator[bytes]:
        async for blank in _until_done(answering, self._door.comment):
            yield blank
        try:
            events = answering.result()
        except ArenaError as refusal:
            yield self._door.error_event(refusal)
            return
        assert not isinstance(events, dict)
        async for event in events:
            yield event

    async def _late_body(self, answering: "asyncio.Task[Content]") -> AsyncIterator[bytes]:
        """Yield blanks, which JSON may begin with. Raises BrokenOff, which clients cannot take for an answer."""
        async for blank in _until_done(answering, b" "):
            yield blank
        try:
            payload = answering.result()
        except ArenaError as refusal:
            raise BrokenOff(refusal.code) from refusal
        yield msgspec.json.encode(payload)

    def _set_body(self, payload: object) -> None:
        body = msgspec.json.encode(payload)
        self.headers["Content-Length"] = str(len(body))
        self.streaming_content = once(body)

    def _refuse(self, refusal: ArenaError) -> None:
        self._span.fail(refusal)
        self.status_code = refusal.http_status
        for name, value in refusal.headers.items():
            self.headers[name] = value
        self._set_body(self._door.refusal(refusal))


async def _until_done(answering: "asyncio.Task[Content]", blank: bytes) -> AsyncIterator[bytes]:
    """Yield `blank` at once, and then as often as a connection needs it."""
    while not answering.done():
        yield blank
        await asyncio.wait([answering], timeout=KEEP_ALIVE_S)


def set_dropped(response: HttpResponseBase, names: Iterable[str]) -> None:
    """Name the fields of the request that no model received."""
    shown = [quote(name[:MAX_DROPPED_CHARACTERS], safe="._-") for name in names][:MAX_DROPPED]
    if shown:
        response.headers["X-Arena-Dropped"] = ", ".join(shown)
