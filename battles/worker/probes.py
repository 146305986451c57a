"""Probes: tiny real requests that check whether a model with an open breaker answers again."""

import logging
import time
from collections.abc import Callable
from contextlib import suppress

from django.db import transaction

from battles.worker import call_store
from battles.worker.call_store import CallResult, PlannedCall, PreparedCall
from common.db.execution import run_in_db
from models_registry.health import outcomes
from models_registry.providers import ChatProvider, FailureCode, ProviderError, stream_contained

logger = logging.getLogger(__name__)

MESSAGES = [{"role": "user", "content": "Reply with OK."}]
MAX_TOKENS = 16


class _NoCapacity(Exception):
    """Raised to roll back a call without slot or money."""


async def probe(breaker_id: int, provider: ChatProvider) -> None:
    """Send a due probe: an answer closes the breaker, a failure prolongs it."""
    call = await run_in_db(_create_call, breaker_id)
    if call is None:
        return
    result = await request_answer(call, provider)
    await run_in_db(_store_outcome, breaker_id, call, result)


def _create_call(breaker_id: int) -> PreparedCall | None:
    model = outcomes.take_probe(breaker_id)
    if model is None:
        return None
    with suppress(_NoCapacity), transaction.atomic():
        [call] = call_store.create_calls([PlannedCall(model, MESSAGES, max_tokens=MAX_TOKENS)], person="")
        if call.must_wait or call.refusal is FailureCode.OVER_BUDGET:
            raise _NoCapacity
        return call
    outcomes.postpone_probe(breaker_id)
    return None


async def request_answer(
    call: PreparedCall, provider: ChatProvider, *, on_piece: Callable[[str, str], None] = lambda text, reasoning: None
) -> CallResult:
    """Send a call without a turn. `on_piece` is called with (text, reasoning) and must not block."""
    result = CallResult(was_sent=call.refusal is None)
    began = time.monotonic()

    def receive(text: str, reasoning: str) -> float:
        if result.first_token_ms is None:
            result.first_token_ms = round((time.monotonic() - began) * 1000)
        result.texts.append(text)
        result.reasonings.append(reasoning)
        on_piece(text, reasoning)
        return 0.0

    try:
        if call.refusal is not None:
            raise ProviderError(call.refusal)
        result.completion = await stream_contained(provider, call.request, receive)
        if result.first_token_ms is None:
            raise ProviderError(FailureCode.EMPTY)
    except ProviderError as error:
        result.error, result.retry_after, result.upstream = error.code, error.retry_after, error.upstream
        logger.warning("probe %s failed: %s", call.row.pk, error)
    result.total_ms = round((time.monotonic() - began) * 1000)
    return result


@transaction.atomic
def _store_outcome(breaker_id: int, call: PreparedCall, result: CallResult) -> None:
    if call_store.store_result(call, result):
        outcomes.record_probe(breaker_id, result.error, retry_after=result.retry_after)
