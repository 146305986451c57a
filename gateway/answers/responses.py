import asyncio
import time
from collections.abc import AsyncIterator, Iterable
from urllib.parse import quote

import msgspec
from django.http import HttpResponseBase

from accounts.models import Scope
from accounts.open_streams import StreamRight, until_lost, was_cancelled_by_loss, watched
from common.errors import ArenaError, NotSignedIn
from common.late_response import LateResponse, once
from gateway.authentication import Caller
from gateway.doors.port import Door
from gateway.slots import RequestSlot

HEADERS = {"Cache-Control": "private, no-store, no-transform", "X-Accel-Buffering": "no"}
KEEP_ALIVE_S = 15.0
EVENT_STREAM = "text/event-stream; charset=utf-8"
# Names of dropped fields come from the caller, and headers have a limit.
MAX_DROPPED, MAX_DROPPED_CHARACTERS = 20, 60


class CompletionResponse(LateResponse):
    """JSON, or an event stream; both end when the caller's right is lost.

    slot: freed at the end, or when a response that never begins is collected.
    """

    def __init__(self, slot: RequestSlot, caller: Caller, door: Door) -> None:
        super().__init__(iter(()), content_type="application/json", headers=HEADERS)
        self._slot, self._door = slot, door
        self._right = StreamRight(person=caller.actor.key, token=caller.token.pk, scope=Scope.GATEWAY)
        self._created = int(time.time())

    async def begin(self) -> None:
        try:
            with watched(self._right):
                await self._prepare()
        except asyncio.CancelledError:
            if not was_cancelled_by_loss(self._right):
                raise
            self._refuse(NotSignedIn())

    async def _prepare(self) -> None:
        """Set status, headers and content."""
        raise NotImplementedError

    async def end(self) -> None:
        # Now: an exception's traceback may keep this response alive until a later garbage collection.
        self._slot.free()

    def _set_stream(self, chunks: AsyncIterator[bytes]) -> None:
        self.headers["Content-Type"] = EVENT_STREAM
        self.streaming_content = until_lost(chunks, self._right, last=self._door.error_event(NotSignedIn()))

    def _set_body(self, payload: object) -> None:
        body = msgspec.json.encode(payload)
        self.headers["Content-Length"] = str(len(body))
        self.streaming_content = once(body)

    def _refuse(self, refusal: ArenaError) -> None:
        self.status_code = refusal.http_status
        for name, value in refusal.headers.items():
            self.headers[name] = value
        self._set_body(self._door.refusal(refusal))


def set_dropped(response: HttpResponseBase, names: Iterable[str]) -> None:
    """Name the fields of the request that no model received."""
    shown = [quote(name[:MAX_DROPPED_CHARACTERS], safe="._-") for name in names][:MAX_DROPPED]
    if shown:
        response.headers["X-Arena-Dropped"] = ", ".join(shown)
