"""One sending of a call, for turns, the gateway, runs, probes and tests of models."""

import logging
import time
from typing import Unpack

from battles.calls.traced import begin_span, describe
from battles.calls.values import CallResult, PreparedCall
from common.tracing import Attribute
from models_registry.providers import ChatProvider, ChatRequest, ProviderError, stream_contained
from models_registry.providers.base import StreamOptions

logger = logging.getLogger(__name__)


class Attempt:
    """Sends a call and fills in its result as the answer arrives. Subclasses pass the pieces on."""

    # Whether the first token may be reasoning.
    times_reasoning = True

    def __init__(self, call: PreparedCall, provider: ChatProvider) -> None:
        self.call = call
        self.provider = provider
        self.result = CallResult(was_sent=False)
        self._began = time.monotonic()

    @property
    def traced_facts(self) -> dict[Attribute, str]:
        """Return what the call's span has of its battle."""
        return {}

    async def run(self) -> CallResult:
        """Return the result, which contains provider errors. After a cancellation, `result` has what arrived."""
        with begin_span(self.call, self.traced_facts) as span:
            result = await self.receive_answer()
            describe(span, self.call, result)
        return result

    async def receive_answer(self) -> CallResult:
        try:
            if self.call.refusal is not None:
                raise ProviderError(self.call.refusal)
            await self.stream()
            if self.is_empty():
                raise self.result.missing_answer()
        except ProviderError as error:
            self.result.fail(error)
            logger.warning("%s %s failed: %s", self.call.row.purpose, self.call.row.pk, error)
        finally:
            self.result.total_ms = self._elapsed_ms()
        return self.result

    async def stream(self) -> None:
        await self.send(self.call.request)

    async def send(self, request: ChatRequest, **options: Unpack[StreamOptions]) -> None:
        self.result.was_sent = True
        own: StreamOptions = {"take_back": self.take_back, "completion": self.result.completion}
        self.result.completion = await stream_contained(self.provider, request, self.receive, **(own | options))

    def receive(self, text: str, reasoning: str) -> float:
        """Keep a piece. Return seconds until the next one is needed."""
        if text:
            self.result.texts.append(text)
        if reasoning:
            self.result.reasonings.append(reasoning)
        if text or self.times_reasoning:
            self.note_first_token()
        return 0.0

    def take_back(self) -> None:
        self.result.take_back()

    def is_empty(self) -> bool:
        return self.result.first_token_ms is None

    def note_first_token(self) -> None:
        if self.result.first_token_ms is None:
            self.result.first_token_ms = self._elapsed_ms()

    def _elapsed_ms(self) -> int:
        return round((time.monotonic() - self._began) * 1000)
