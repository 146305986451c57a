import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from functools import partial

from django.utils.translation import activate, get_language

from battles.calls import CallResult, PreparedCall, set_token_counts, subscribed_slot_queue
from common import logs
from common.errors import ArenaError, ServiceAway
from common.late_response import in_thread, in_thread_with_retry
from gateway.answers import cache, calls
from gateway.answers.cache import CachedAnswer
from gateway.answers.calls import NoSlot, Request
from gateway.answers.failures import RETRY_AFTER_S, failure_error
from gateway.answers.responses import KEEP_ALIVE_S, CompletionResponse, Content, set_dropped
from gateway.answers.slots import RequestSlot
from gateway.answers.upstream import Upstream
from gateway.answers.whole import kept_texts, whole_answer
from gateway.doors.port import AnswerWriter, Head
from gateway.errors import ModelBusy
from gateway.outgoing.parameters import dropped_for
from models_registry.providers import repairs

logger = logging.getLogger(__name__)

# Exponential backoff between attempts to get a slot, if no message of a freed one comes.
FIRST_BACKOFF_S, MAX_BACKOFF_S = 0.1, 1.0


class Answer(CompletionResponse):
    """Response to one request: an event stream, or JSON once the answer is complete."""

    def __init__(
        self, request: Request, prepared: PreparedCall | None, slot: RequestSlot, *, cache_key: str = ""
    ) -> None:
        """prepared: the first call; None if it has to wait for a slot. cache_key: of the chosen model's answer."""
        super().__init__(slot, request.caller, request.door, is_stream=request.chat.is_stream)
        self._request = request
        self._cache_key = cache_key
        self._language = get_language() or "en"
        self._prepared = prepared
        self._opening: asyncio.Future[PreparedCall | None] | None = None
        self._upstream: Upstream | None = None
        self._keep_alive: _KeepAlive | None = None
        self._settled: set[int] = set()
        self._settling: list[asyncio.Future[None]] = []

    async def _answer(self) -> Content:
        logs.begin_request(self.headers["X-Request-ID"])
        activate(self._language)
        try:
            self._name_decision()
            upstream = await self._answered()
        except ArenaError:
            await self._release_claim()  # before the response, after which the client may repeat its request
            raise
        self.headers["X-Arena-Model"] = upstream.call.row.model.full_slug
        self._name_repaired(upstream)
        if self._request.fallbacks:
            self.headers["X-Arena-Fallback"] = "1"
        self._name_decision()
        if self._is_stream:
            return self._chunks(upstream)
        set_token_counts(upstream.call, upstream.result)
        self._request.completion = self._writer(upstream).whole(whole_answer(upstream))
        await self._settle(upstream.call, upstream.result)
        return self._request.completion

    def _name_decision(self) -> None:
        """Name the decision in the head; called again after the answer, whose fallback has another."""
        if self._request.decision is not None:
            self.headers["X-Arena-Decision"] = self._request.decision.public_id
            self.headers["X-Arena-Reason"] = self._request.reason

    def _name_repaired(self, upstream: Upstream) -> None:
        """Name parameters of the caller that the provider refused and that were left out."""
        left_out = {repairs.parameter_of(name) for name in upstream.result.completion.repaired}
        chat, model = self._request.chat, upstream.call.row.model
        if names := sorted(left_out & chat.parameters.keys()):
            set_dropped(self, [*dropped_for(chat, model), *names])

    async def end(self) -> None:
        """Stop what still runs, and settle it. Shielded: a server that ends cancels this task."""
        await asyncio.shield(asyncio.ensure_future(self._stop_settle_and_free()))

    async def _answered(self) -> Upstream:
        """Return a call whose answer has begun, and without a stream is complete. Raises ArenaError."""
        upstream = await self._ask(self._prepared or await self._wait_for_slot())
        while upstream.failed and not (self._is_stream and upstream.result.first_token_ms is not None):
            await self._settle(upstream.call, upstream.result)
            prepared = await self._open(partial(calls.open_next, self._request))
            if prepared is None:
                raise self._failure(upstream)
            upstream = await self._ask(prepared)
        return upstream

    async def _ask(self, prepared: PreparedCall) -> Upstream:
        self._upstream = Upstream(prepared, has_stops="stop" in self._request.chat.parameters)
        await self._upstream.wait_for_beginning()
        if not self._is_stream:
            await self._upstream.wait_for_end()
        return self._upstream

    async def _wait_for_slot(self) -> PreparedCall:
        """Retry for half of the first-token timeout. Raises ModelBusy and as open_call."""
        model = self._request.candidates.models[0]
        until = time.monotonic() + model.provider.deadlines["first"] / 2
        pause_s = FIRST_BACKOFF_S
        with subscribed_slot_queue().join(model.provider_id) as woken:
            while time.monotonic() + pause_s < until:
                with suppress(TimeoutError):
                    async with asyncio.timeout(pause_s):
                        await woken.wait()
                woken.clear()  # before the look: a slot that is freed during it wakes the call again
                with suppress(NoSlot):
                    if prepared := await self._open(partial(calls.open_call, self._request, model)):
                        return prepared
                pause_s = min(2 * pause_s, MAX_BACKOFF_S)
        raise ModelBusy(retry_after=RETRY_AFTER_S)

    async def _open(self, open_call: Callable[[], PreparedCall | None]) -> PreparedCall | None:
        """Open a call. After a cancellation its thread goes on, and _stop_and_settle waits for it."""
        self._opening = in_thread(open_call)
        prepared = await asyncio.shield(self._opening)
        self._prepared = prepared or self._prepared
        return prepared

    async def _settle(self, prepared: PreparedCall, result: CallResult) -> None:
        if prepared.row.pk not in self._settled:
            self._settled.add(prepared.row.pk)
            self._keep_texts()
            settling = asyncio.ensure_future(in_thread_with_retry(calls.settle, self._request, prepared, result))
            self._settling.append(settling)
            await asyncio.shield(settling)
            if self._cache_key and not self._request.fallbacks and result.error is None and not result.stopped:
                assert self._upstream is not None
                answer = CachedAnswer(prepared.row.model.full_slug, whole_answer(self._upstream))
                await in_thread(cache.store, self._cache_key, self._request.caller, answer)

    async def _release_claim(self) -> None:
        claim = self._request.claim
        if claim is not None and not claim.is_over:
            await in_thread(claim.release)

    def _keep_texts(self) -> None:
        if self._request.caller.token.keeps_texts and self._upstream is not None:
            self._request.texts = kept_texts(self._request.chat, whole_answer(self._upstream))

    async def _stop_settle_and_free(self) -> None:
        try:
            await self._stop_and_settle()
        finally:
            await super().end()

    async def _stop_and_settle(self) -> None:
        if self._keep_alive is not None:
            self._keep_alive.cancel()
        await self._stop_answering()
        if self._upstream is not None:
            await self._upstream.stop()
        if self._opening is not None:
            with suppress(Exception):
                self._prepared = await self._opening or self._prepared
        await asyncio.gather(*self._settling, return_exceptions=True)
        await self._release_claim()
        if self._prepared is None:
            return
        result = CallResult(stopped=True, was_sent=False)
        if self._upstream is not None and self._upstream.call is self._prepared:
            result = self._upstream.result
        try:
            await self._settle(self._prepared, result)
        except Exception:
            logger.exception("call %s was not settled; the sweeper will", self._prepared.row.pk)

    def _failure(self, upstream: Upstream) -> ArenaError:
        return failure_error(upstream.call, upstream.result) if upstream.failed else ServiceAway()

    def _writer(self, upstream: Upstream) -> AnswerWriter:
        head = Head(self._request.exchange.public_id, self._created, upstream.call.row.model.full_slug)
        return self._door.writer(head, self._request.chat)

    async def _chunks(self, upstream: Upstream) -> AsyncIterator[bytes]:
        writer = self._writer(upstream)
        begun = writer.begin()
        self._keep_alive = keep_alive = _KeepAlive(upstream.changed)
        while True:
            is_over = upstream.is_over  # before taking: what comes later is taken in the next round
            sent, begun = begun + writer.deltas(upstream.take()), b""
            if is_over:
                yield sent + self._last_events(upstream, writer)
                return
            if sent:
                keep_alive.restart()
                yield sent
            elif keep_alive.is_due:
                keep_alive.restart()
                yield self._door.comment
            await upstream.changed.wait()

    def _last_events(self, upstream: Upstream, writer: AnswerWriter) -> bytes:
        if upstream.failed:
            return writer.error(self._failure(upstream))
        if self._request.chat.includes_usage:
            set_token_counts(upstream.call, upstream.result)
        return writer.end(whole_answer(upstream))


class _KeepAlive:
    """Timer that wakes a stream whose model is silent."""

    def __init__(self, changed: asyncio.Event) -> None:
        self._changed = changed
        self._loop = asyncio.get_running_loop()
        self._sent_at = self._loop.time()
        self._timer = self._loop.call_later(KEEP_ALIVE_S, self._wake)

    @property
    def is_due(self) -> bool:
        return self._loop.time() - self._sent_at >= KEEP_ALIVE_S

    def restart(self) -> None:
        self._sent_at = self._loop.time()

    def cancel(self) -> None:
        self._timer.cancel()

    def _wake(self) -> None:
        self._timer = self._loop.call_later(KEEP_ALIVE_S / 3, self._wake)
        if self.is_due:
            self._changed.set()
