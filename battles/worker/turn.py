"""Answering of a claimed turn: call its models concurrently, publish and store the answers."""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from random import SystemRandom
from typing import Unpack

from django.conf import settings

from battles.calls.slot_queue import SlotQueue
from battles.calls.values import CallResult, PreparedCall
from battles.models import Answer
from battles.streaming.protocol import stream_key
from battles.streaming.publisher import Publisher, TurnChannel
from battles.worker import turn_store
from battles.worker.answer_store import AnswerStore
from battles.worker.turn_store import ClaimedTurn, EndedSide, LeaseLost, ShownAnswer
from common.db.execution import CONNECTION_ERRORS, run_in_db_with_retry
from common.rendering.renderer import Renderer
from models_registry.providers import (
    ChatProvider,
    ChatRequest,
    Completion,
    FailureCode,
    ProviderError,
    Receive,
    stream_contained,
)
from models_registry.providers.base import StreamOptions

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
    # Turns that this process answers now.
    live_turns: Callable[[], int] = lambda: 0
    slots: SlotQueue = field(default_factory=SlotQueue)
    answers: AnswerStore = field(default_factory=AnswerStore)


class TurnRunner:
    """One claimed turn on the engine's loop. `calls`: None if they have to be created."""

    def __init__(self, context: WorkerContext, claimed: ClaimedTurn, calls: list[PreparedCall] | None) -> None:
        self.claimed = claimed
        self._calls = calls
        self._context = context
        # By side: a redrawn side's second call replaces its first.
        self._current_calls: dict[str, PreparedCall] = {}
        self._equal_pace = settings.ARENA_EQUAL_PACE and claimed.is_blind
        self._channel = self._new_channel(calls or [])
        self._streams: set[asyncio.Task[Completion]] = set()
        self._stopped = claimed.stop_requested

    def _new_channel(self, calls: Sequence[PreparedCall]) -> TurnChannel:
        key = stream_key(self.claimed.battle_public_id, self.claimed.index, self.claimed.regenerated)
        sides = [call.side for call in calls]
        return TurnChannel(self._context.publisher, key, sides, equal_pace=self._equal_pace)

    def stop(self) -> None:
        """Cancel the streams; their text so far is stored, at equal pace as shown."""
        self._stopped = True
        self._cut_if_stopped()
        for stream in self._streams:
            stream.cancel()

    async def run(self) -> None:
        try:
            if self._calls is None:
                self._calls = await run_in_db_with_retry(turn_store.begin_calls, self.claimed)
                self._channel = self._new_channel(self._calls)
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
                self._channel.end()
            else:
                self._channel.abandon()

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
            self._channel.reset_side(call.side)
        result = await self._call_model(call)
        may_redraw = result.error and self.claimed.index == 0 and not self._channel.was_shown(call.side)
        if may_redraw and not self._stopped:
            replacement = await run_in_db_with_retry(turn_store.redraw, self.claimed, call, result)
            if replacement is not None:
                self._channel.reset_side(call.side)
                call = self._current_calls[call.side] = replacement
                result = await self._call_model(replacement)
        # Before the transaction, which locks the turn's row.
        result.html = await self._context.renderer.render("".join(result.texts), self._channel.rendering_cost)
        await self._store(call, result)

    async def _store(self, call: PreparedCall, result: CallResult) -> None:
        ended = EndedSide(self.claimed, call, result, closes_turn=not self._equal_pace)
        state = await self._context.answers.store(ended)
        self._channel.finish_side(call.side, state)

    async def _close_when_published(self, answers: Sequence[asyncio.Task[bool]]) -> None:
        """Close the turn once all text is published; earlier would reveal that the faster model has ended."""
        if not all([await answer for answer in answers]):
            return
        if self._channel.is_cut:
            await self._close_as_shown()
            return
        while not self._channel.is_published():
            self._channel.show_more(at_once=self._stopped)
            await asyncio.sleep(self._context.publisher.tick_s)
        await run_in_db_with_retry(turn_store.close_turn, self.claimed)

    def _cut_if_stopped(self) -> None:
        # The rest of an answer, or a state of its own, would reveal the faster model.
        if self._stopped and self._equal_pace:
            self._channel.cut(Answer.State.STOPPED)

    async def _close_as_shown(self) -> None:
        """Store the shown texts in one state."""
        texts = {call.answer_id: self._channel.sent_text(side) for side, call in self._current_calls.items()}
        if not self.claimed.regenerated:
            # Answers that another worker stored, before this one was claimed again.
            stored = await run_in_db_with_retry(turn_store.stored_texts, self.claimed)
            longest = max(map(len, texts.values()))
            texts = {pk: text[:longest] for pk, text in stored.items()} | texts
        render, cost = self._context.renderer.render, self._channel.rendering_cost
        shown = [ShownAnswer(pk, text, await render(text, cost)) for pk, text in texts.items()]
        await run_in_db_with_retry(turn_store.close_as_shown, self.claimed, shown)

    async def _call_model(self, call: PreparedCall) -> CallResult:
        """Send a call; the result contains provider errors."""
        result = CallResult(was_sent=False)
        began = time.monotonic()

        def receive(text: str, reasoning: str) -> float:
            if reasoning:
                result.reasonings.append(reasoning)
            if not text:
                return 0.0
            if result.first_token_ms is None:
                result.first_token_ms = _ms_since(began)
            result.texts.append(text)
            return self._channel.add(call.side, text)

        def take_back() -> None:
            result.take_back()
            self._channel.reset_side(call.side)

        try:
            if call.refusal is not None:
                raise ProviderError(call.refusal)
            request = await self._wait_for_slot(call)
            if not self._stopped:
                result.was_sent = True
                result.completion = await self._stream(
                    request, receive, completion=result.completion, take_back=take_back
                )
                if not result.has_text:
                    raise result.missing_answer()
        except _Stopped:
            pass
        except ProviderError as error:
            result.fail(error)
            logger.warning("call %s failed: %s", call.row.pk, error)
        result.stopped = self._stopped and not result.completion.finish_reason and not result.error
        result.total_ms = _ms_since(began)
        return result

    async def _wait_for_slot(self, call: PreparedCall) -> ChatRequest:
        """Return the request, its first-token deadline reduced by the wait. Raises ProviderError after half of it."""
        if not call.must_wait:
            return call.request
        began = time.monotonic()
        first_s = call.request.deadlines["first"]
        pause_s = FIRST_BACKOFF_S
        with self._context.slots.place(call.row.model.provider_id) as woken:
            while not self._stopped:
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

    async def _stream(self, request: ChatRequest, receive: Receive, **options: Unpack[StreamOptions]) -> Completion:
        """Stream in a task of its own, so that stop() never cancels a transaction."""
        stream = asyncio.create_task(stream_contained(self._context.provider, request, receive, **options))
        self._streams.add(stream)
        try:
            return await stream
        except asyncio.CancelledError:
            if self._stopped and stream.cancelled():
                raise _Stopped from None
            stream.cancel()
            raise
        finally:
            self._streams.discard(stream)


def _ms_since(began: float) -> int:
    return round((time.monotonic() - began) * 1000)
