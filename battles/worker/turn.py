"""The life of a turn in a worker: claim it, ask its models at once, store what they say, announce the end."""

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import SystemRandom

from django.conf import settings

from battles.streaming.protocol import stream_key
from battles.streaming.publisher import Publisher, TurnChannel
from battles.worker import turn_store as records
from battles.worker.call_store import PreparedCall, Said
from battles.worker.turn_store import Overtaken
from common.db.execution import AWAY, in_returning_database
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

logger = logging.getLogger(__name__)

_random = SystemRandom()


class _Stopped(Exception):
    """The person stopped the stream."""


@dataclass
class Worker:
    """What a process shares among its turns."""

    provider: ChatProvider
    publisher: Publisher
    renderer: Renderer


class TurnAnswering:
    """One claimed turn. `stop()` may be called from the loop at any time."""

    _channel: TurnChannel

    def __init__(self, worker: Worker, claimed: records.ClaimedTurn, calls: list[PreparedCall] | None) -> None:
        """calls: those begun already, if they are."""
        self.claimed = claimed
        self._calls = calls
        self._worker = worker
        # By side: a redrawn side's second call replaces its first.
        self._last_calls: dict[str, PreparedCall] = {}
        self._equal_pace = settings.ARENA_EQUAL_PACE and claimed.is_blind
        self._streams: set[asyncio.Task[Completion]] = set()
        self._stopped = claimed.stop_requested

    def stop(self) -> None:
        """The person has read enough: end every side that still speaks, and keep what it said."""
        self._stopped = True
        for stream in self._streams:
            stream.cancel()

    async def run(self) -> None:
        """Until every side is stored and the end is announced. Ends early, changing nothing, once overtaken."""
        try:
            if self._calls is None:
                self._calls = await in_returning_database(records.begin_calls, self.claimed)
        except Overtaken:
            logger.info("turn %s was taken over", self.claimed.turn_id)
            return
        key = stream_key(self.claimed.battle_public_id, self.claimed.index, self.claimed.round)
        sides = [call.side for call in self._calls]
        self._channel = TurnChannel(self._worker.publisher, key, sides, equal_pace=self._equal_pace)
        is_stored = False
        try:
            async with asyncio.TaskGroup() as answering:
                answers = [answering.create_task(self._answer_or_fail(call)) for call in self._calls]
                if self._equal_pace and self._calls:  # without calls the turn is closed already
                    await self._close_when_shown(answers)
            is_stored = all(answer.result() for answer in answers)
        except* Overtaken:
            logger.info("turn %s was taken over", self.claimed.turn_id)
        finally:
            if is_stored:
                self._channel.end()
            else:
                self._channel.abandon()

    async def _answer_or_fail(self, call: PreparedCall) -> bool:
        """Answer one side; if that raises, fail it and let the other side go on.

        Returns False when not even the failure could be stored: the sweeper takes the turn up again. Raises Overtaken
        and errors of a database that is away, which end the whole turn here.
        """
        try:
            await self._answer(call)
        except (Overtaken, *AWAY):
            raise
        except Exception:
            logger.exception("%s side of turn %s failed", call.side, self.claimed.turn_id)
            return await self._store_failure(self._last_calls[call.side])
        return True

    async def _store_failure(self, call: PreparedCall) -> bool:
        said = Said(error=FailureCode.INTERRUPTED)
        try:
            state = await self._store(call, said)
        except (Overtaken, *AWAY):
            raise
        except Exception:
            logger.exception("%s side of turn %s could not be stored", call.side, self.claimed.turn_id)
            return False
        self._channel.side_is_over(call.side, state)
        return True

    async def _store(self, call: PreparedCall, said: Said) -> str:
        return await in_returning_database(
            records.store_answer, self.claimed, call, said, closes_turn=not self._equal_pace
        )

    async def _close_when_shown(self, answers: Sequence[asyncio.Task[bool]]) -> None:
        """End the turn once its sides are stored and its readers have every word.

        A battle whose turn has ended while its longer answer still grows would tell that the faster model writes it.
        """
        if not all([await answer for answer in answers]):
            return
        while not self._channel.is_shown():
            self._channel.show_more(at_once=self._stopped)
            await asyncio.sleep(self._worker.publisher.tick_s)
        await in_returning_database(records.close_turn, self.claimed)

    async def _answer(self, call: PreparedCall) -> None:
        """One side, with its one silent redraw."""
        self._last_calls[call.side] = call
        if self.claimed.attempt > 1 or self.claimed.round:
            self._channel.begin_again(call.side)
        said = await self._ask(call)
        may_redraw = said.error and self.claimed.index == 0 and not self._channel.was_shown(call.side)
        if may_redraw and not self._stopped:
            replacement = await in_returning_database(records.redraw, self.claimed, call, said)
            if replacement is not None:
                self._channel.begin_again(call.side)
                call = self._last_calls[call.side] = replacement
                said = await self._ask(replacement)
        # Before the transaction, which holds the turn's row.
        said.html = await self._worker.renderer.render("".join(said.texts), self._channel.spending)
        state = await self._store(call, said)
        self._channel.side_is_over(call.side, state)

    async def _ask(self, call: PreparedCall) -> Said:
        """Never raises for what a provider does; a cancellation is a stop if one was asked for."""
        said = Said(was_sent=False)
        began = time.monotonic()

        def receive(text: str, reasoning: str) -> float:
            if reasoning:
                said.reasonings.append(reasoning)
            if not text:
                return 0.0
            if said.first_token_ms is None:
                said.first_token_ms = _ms_since(began)
            said.texts.append(text)
            return self._channel.add(call.side, text)

        try:
            if call.refusal is not None:
                raise ProviderError(call.refusal)
            request = await self._request_in_its_slot(call)
            if not self._stopped:
                said.was_sent = True
                said.completion = await self._stream(request, receive)
                if not said.has_text:
                    raise ProviderError(FailureCode.EMPTY)
        except _Stopped:
            pass
        except ProviderError as error:
            said.error, said.retry_after = error.code, error.retry_after
            logger.warning("call %s failed: %s", call.row.pk, error)
        said.stopped = self._stopped and not said.completion.finish_reason and not said.error
        said.total_ms = _ms_since(began)
        return said

    async def _request_in_its_slot(self, call: PreparedCall) -> ChatRequest:
        """The request, as soon as its provider has room; a wait is taken off the first token's deadline.

        Raises ProviderError when that would be too late.
        """
        if not call.must_wait:
            return call.request
        began = time.monotonic()
        first_s = call.request.deadlines["first"]
        pause_s = 0.1
        while not self._stopped and not await in_returning_database(records.take_slot, self.claimed, call):
            if time.monotonic() - began + pause_s > first_s / 2:
                raise ProviderError(FailureCode.RATE_LIMITED, "every slot is taken")
            await asyncio.sleep(pause_s * _random.uniform(0.5, 1))
            pause_s = min(pause_s * 2, 1.0)
        left_s = first_s - (time.monotonic() - began)
        return replace(call.request, deadlines={**call.request.deadlines, "first": left_s})

    async def _stream(self, request: ChatRequest, receive: Receive) -> Completion:
        """A task of its own, because only the stream may be stopped: what is being stored must be stored."""
        stream = asyncio.create_task(stream_contained(self._worker.provider, request, receive))
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
