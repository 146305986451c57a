"""Answering of a claimed turn: call its models concurrently, publish and store the answers."""

import asyncio
import logging
import time
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from random import SystemRandom

from django.conf import settings

from battles.calls.attempt import Attempt
from battles.calls.slot_queue import SlotQueue
from battles.calls.values import CallResult, PreparedCall
from battles.models import Answer
from battles.streaming.protocol import stream_key
from battles.streaming.publisher import Publisher, TurnChannel
from battles.worker import turn_store
from battles.worker.answer_store import AnswerStore
from battles.worker.turn_store import ClaimedTurn, EndedSide, LeaseLost, ShownAnswer
from common import tracing
from common.db.execution import CONNECTION_ERRORS, run_in_db_with_retry
from common.rendering.renderer import Renderer
from common.tracing import Attribute, EventName, SpanName
from models_registry.providers import ChatProvider, ChatRequest, FailureCode, ProviderError

logger = logging.getLogger(__name__)

# Exponential backoff between attempts to get a slot, if no message of a freed one comes.
FIRST_BACKOFF_S, MAX_BACKOFF_S = 0.1, 1.0
_random = SystemRandom()


class _Stopped(Exception):
    """Raised when a person stopped the stream."""


@dataclass
class WorkerContext:
    """Services that all turns of a process share."""

    provider: ChatProvider
    publisher: Publisher
    renderer: Renderer
    slots: SlotQueue = field(default_factory=SlotQueue)
    answers: AnswerStore = field(default_factory=AnswerStore)


class TurnRunner:
    """One claimed turn on the engine's loop. `calls`: None if they have to be created."""

    def __init__(self, context: WorkerContext, claimed: ClaimedTurn, calls: list[PreparedCall] | None) -> None:
        self.claimed = claimed
        self._calls = calls
        self.context = context
        # Side → its call; a redrawn side's second call replaces its first.
        self._current_calls: dict[str, PreparedCall] = {}
        self._equal_pace = settings.ARENA_EQUAL_PACE and claimed.is_blind
        self.channel = self._new_channel(calls or [])
        self._streams: set[asyncio.Task[None]] = set()
        self.stopped = claimed.stop_requested

    def _new_channel(self, calls: Sequence[PreparedCall]) -> TurnChannel:
        key = stream_key(self.claimed.battle_public_id, self.claimed.index, self.claimed.regenerated)
        sides = [call.side for call in calls]
        return TurnChannel(self.context.publisher, key, sides, equal_pace=self._equal_pace)

    def stop(self) -> None:
        """Cancel the streams; their text so far is stored, at equal pace as shown."""
        self.stopped = True
        self._cut_if_stopped()
        for stream in self._streams:
            stream.cancel()

    def begin_span(self) -> tracing.Span:
        """Begin this attempt's span below the request's, beside those of other attempts."""
        claimed = self.claimed
        span = tracing.span(SpanName.TURN, self.traced_facts, parent=claimed.trace)
        span.set({Attribute.ATTEMPT: claimed.attempt})
        if span.is_recording and claimed.queued_since is not None:
            waited_s = max(0.0, time.time() - claimed.queued_since.timestamp())
            span.add_event(EventName.QUEUED, {Attribute.WAITED_S: waited_s})
        return span

    @property
    def traced_facts(self) -> dict[Attribute, str]:
        return {Attribute.MODE: self.claimed.mode, Attribute.ORIGIN: self.claimed.origin}

    async def run(self) -> None:
        try:
            if self._calls is None:
                self._calls = await run_in_db_with_retry(turn_store.begin_calls, self.claimed)
                self.channel = self._new_channel(self._calls)
        except LeaseLost:
            logger.info("turn %s was taken over", self.claimed.turn_id)
            return
        self._cut_if_stopped()
        is_stored = False
        try:
            async with asyncio.TaskGroup() as group:
                answers = [group.create_task(self._answer_or_fail(call)) for call in self._calls]
                if self._equal_pace and self._calls:  # without calls the turn is closed already
                    await self._close_when_published(answers)
            is_stored = all(answer.result() for answer in answers)
        except* LeaseLost:
            logger.info("turn %s was taken over", self.claimed.turn_id)
        finally:
            if is_stored:
                self.channel.end()
            else:
                self.channel.abandon()

    async def _answer_or_fail(self, call: PreparedCall) -> bool:
        """Answer one side; if that raises, store a failure. Return False if that fails too.

        Raises LeaseLost and errors of an unreachable database, which end the turn here.
        """
        try:
            await self._answer(call)
        except (LeaseLost, *CONNECTION_ERRORS):
            raise
        except Exception:
            logger.exception("%s side of turn %s failed", call.side, self.claimed.turn_id)
        else:
            return True
        try:
            await self._store(self._current_calls[call.side], CallResult(error=FailureCode.INTERRUPTED))
        except (LeaseLost, *CONNECTION_ERRORS):
            raise
        except Exception:
            logger.exception("%s side of turn %s could not be stored", call.side, self.claimed.turn_id)
            return False
        return True

    async def _answer(self, call: PreparedCall) -> None:
        """Answer one side, with at most one redraw."""
        self._current_calls[call.side] = call
        if self.claimed.attempt > 1 or self.claimed.regenerated:
            self.channel.reset_side(call.side)
        result = await _SideAttempt(self, call).run()
        may_redraw = result.error and self.claimed.index == 0 and not self.channel.was_shown(call.side)
        if may_redraw and not self.stopped:
            replacement = await run_in_db_with_retry(turn_store.redraw, self.claimed, call, result)
            if replacement is not None:
                self.channel.reset_side(call.side)
                call = self._current_calls[call.side] = replacement
                result = await _SideAttempt(self, replacement).run()
        # Rendering comes before the transaction, which locks the turn's row.
        result.html = await self.context.renderer.render("".join(result.texts), self.channel.rendering_cost)
        await self._store(call, result)

    async def _store(self, call: PreparedCall, result: CallResult) -> None:
        ended = EndedSide(self.claimed, call, result, closes_turn=not self._equal_pace)
        with tracing.span(SpanName.STORE, {Attribute.SIDE: call.side}):
            state = await self.context.answers.store(ended)
        self.channel.finish_side(call.side, state, result.html)

    async def _close_when_published(self, answers: Sequence[asyncio.Task[bool]]) -> None:
        """Close the turn once all text is published; earlier would reveal that the faster model has ended."""
        if not all([await answer for answer in answers]):
            return
        if self.channel.is_cut:
            await self._close_as_shown()
            return
        while not self.channel.is_published():
            self.channel.show_more(at_once=self.stopped)
            await asyncio.sleep(self.context.publisher.tick_s)
        await run_in_db_with_retry(turn_store.close_turn, self.claimed)

    def _cut_if_stopped(self) -> None:
        # The rest of an answer, or a state of its own, would reveal the faster model.
        if self.stopped and self._equal_pace:
            self.channel.cut(Answer.State.STOPPED)

    async def _close_as_shown(self) -> None:
        """Store the shown texts in one state."""
        texts = {call.answer_id: self.channel.sent_text(side) for side, call in self._current_calls.items()}
        if not self.claimed.regenerated:
            # Answers that another worker stored, before this one was claimed again.
            stored = await run_in_db_with_retry(turn_store.stored_texts, self.claimed)
            longest = max(map(len, texts.values()))
            texts = {pk: text[:longest] for pk, text in stored.items()} | texts
        render, cost = self.context.renderer.render, self.channel.rendering_cost
        shown = [ShownAnswer(pk, text, await render(text, cost)) for pk, text in texts.items()]
        await run_in_db_with_retry(turn_store.close_as_shown, self.claimed, shown)

    async def wait_for_slot(self, call: PreparedCall) -> ChatRequest:
        """Return the request, its first-token deadline reduced by the wait. Raises ProviderError after half of it."""
        if not call.must_wait:
            return call.request
        began = time.monotonic()
        first_s = call.request.deadlines["first"]
        pause_s = FIRST_BACKOFF_S
        with self.context.slots.join(call.row.model.provider_id) as woken:
            while not self.stopped:
                woken.clear()  # before the look: what is freed during it wakes the next one
                if await run_in_db_with_retry(turn_store.acquire_slot, self.claimed, call):
                    break
                if time.monotonic() - began + pause_s > first_s / 2:
                    raise ProviderError(FailureCode.RATE_LIMITED, "every slot is taken")
                with suppress(TimeoutError):
                    async with asyncio.timeout(pause_s * _random.uniform(0.5, 1)):
                        await woken.wait()
                pause_s = min(pause_s * 2, MAX_BACKOFF_S)
        remaining_s = first_s - (time.monotonic() - began)
        return replace(call.request, deadlines={**call.request.deadlines, "first": remaining_s})

    async def in_task(self, sending: Coroutine[object, None, None]) -> None:
        """Send in a task of its own, so that stop() never cancels a transaction. Raises _Stopped."""
        stream = asyncio.create_task(sending)
        self._streams.add(stream)
        try:
            await stream
        except asyncio.CancelledError:
            if self.stopped and stream.cancelled():
                raise _Stopped from None
            stream.cancel()
            raise
        finally:
            self._streams.discard(stream)


class _SideAttempt(Attempt):
    """Call of a side, whose text is published."""

    times_reasoning = False

    def __init__(self, turn: TurnRunner, call: PreparedCall) -> None:
        super().__init__(call, turn.context.provider)
        self._turn = turn

    async def receive_answer(self) -> CallResult:
        with suppress(_Stopped):
            await super().receive_answer()
        result = self.result
        result.stopped = self._turn.stopped and not result.completion.finish_reason and not result.error
        return result

    @property
    def traced_facts(self) -> dict[Attribute, str]:
        return {Attribute.SIDE: self.call.side, **self._turn.traced_facts}

    async def stream(self) -> None:
        request = await self._turn.wait_for_slot(self.call)
        if self._turn.stopped:
            raise _Stopped
        await self._turn.in_task(self.send(request))

    def receive(self, text: str, reasoning: str) -> float:
        super().receive(text, reasoning)
        return self._turn.channel.add(self.call.side, text) if text else 0.0

    def take_back(self) -> None:
        super().take_back()
        self._turn.channel.reset_side(self.call.side)

    def is_empty(self) -> bool:
        return not self.result.has_text
