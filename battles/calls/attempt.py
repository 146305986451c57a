"""One call outside a turn: a probe, a test of a model, an item of a run."""

import logging
import time
from collections.abc import Callable

from battles.calls.values import CallResult, PreparedCall
from models_registry.providers import ChatProvider, ProviderError, stream_contained

logger = logging.getLogger(__name__)


async def ask(
    call: PreparedCall,
    provider: ChatProvider,
    *,
    on_piece: Callable[[str, str], None] | None = None,
    on_take_back: Callable[[], None] | None = None,
    result: CallResult | None = None,
) -> CallResult:
    """Send a call and return its result, which contains provider errors.

    on_piece: called with (text, reasoning); must not block. result: filled in, for a caller that may cancel.
    """
    result = result or CallResult()
    result.was_sent = call.refusal is None
    began = time.monotonic()

    def receive(text: str, reasoning: str) -> float:
        if result.first_token_ms is None:
            result.first_token_ms = round((time.monotonic() - began) * 1000)
        result.texts.append(text)
        result.reasonings.append(reasoning)
        if on_piece is not None:
            on_piece(text, reasoning)
        return 0.0

    def take_back() -> None:
        result.take_back()
        if on_take_back is not None:
            on_take_back()

    try:
        if call.refusal is not None:
            raise ProviderError(call.refusal)
        await stream_contained(provider, call.request, receive, completion=result.completion, take_back=take_back)
        if result.first_token_ms is None:
            raise result.missing_answer()
    except ProviderError as error:
        result.fail(error)
        logger.warning("%s %s failed: %s", call.row.purpose, call.row.pk, error)
    finally:
        result.total_ms = round((time.monotonic() - began) * 1000)
    return result
