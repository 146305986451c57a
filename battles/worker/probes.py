"""A probe: a tiny real request that asks whether a model that was taken out of the draw answers again."""

import logging
import time
from collections.abc import Callable
from contextlib import suppress

from django.db import transaction

from battles.worker import call_store
from battles.worker.call_store import PreparedCall, Question, Said
from common.db.execution import in_database
from models_registry.health import outcomes
from models_registry.providers import ChatProvider, FailureCode, ProviderError, stream_contained

logger = logging.getLogger(__name__)

MESSAGES = [{"role": "user", "content": "Reply with OK."}]
MOST_TOKENS = 16


class _NotNow(Exception):
    """No slot is free, or no money."""


async def probe(breaker_id: int, provider: ChatProvider) -> None:
    """Ask, unless it is not due or somebody else does; the answer closes the breaker, anything else opens it longer."""
    call = await in_database(_begin, breaker_id)
    if call is None:
        return
    said = await ask(call, provider)
    await in_database(_end, breaker_id, call, said)


def _begin(breaker_id: int) -> PreparedCall | None:
    model = outcomes.take_probe(breaker_id)
    if model is None:
        return None
    with suppress(_NotNow), transaction.atomic():
        [call] = call_store.begin([Question(model, MESSAGES, most_tokens=MOST_TOKENS)], person="")
        if call.must_wait or call.refusal is FailureCode.OVER_BUDGET:
            raise _NotNow
        return call
    outcomes.postpone_probe(breaker_id)
    return None


async def ask(
    call: PreparedCall, provider: ChatProvider, *, hear: Callable[[str, str], None] = lambda text, reasoning: None
) -> Said:
    """What came of a call that no side waits for. `hear` gets (text, reasoning) piece by piece and must not block."""
    said = Said(was_sent=call.refusal is None)
    began = time.monotonic()

    def receive(text: str, reasoning: str) -> float:
        if said.first_token_ms is None:
            said.first_token_ms = round((time.monotonic() - began) * 1000)
        said.texts.append(text)
        said.reasonings.append(reasoning)
        hear(text, reasoning)
        return 0.0

    try:
        if call.refusal is not None:
            raise ProviderError(call.refusal)
        said.completion = await stream_contained(provider, call.request, receive)
        if said.first_token_ms is None:
            raise ProviderError(FailureCode.EMPTY)
    except ProviderError as error:
        said.error, said.retry_after, said.upstream = error.code, error.retry_after, error.upstream
        logger.warning("probe %s failed: %s", call.row.pk, error)
    said.total_ms = round((time.monotonic() - began) * 1000)
    return said


@transaction.atomic
def _end(breaker_id: int, call: PreparedCall, said: Said) -> None:
    if call_store.close(call, said) is not None:
        outcomes.record_probe(breaker_id, said.error, retry_after=said.retry_after)
