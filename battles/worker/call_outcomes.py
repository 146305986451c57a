"""Outcomes of calls: state, tokens and cost, computed from results without a database."""

from decimal import Decimal

from battles.models import Call
from battles.prompting.messages import CHARACTERS_PER_TOKEN, conversation_length
from battles.worker.calls import CallResult, PreparedCall, tooling_bytes
from models_registry import spending
from models_registry.providers import FailureCode

# A stream whose pieces are longer on average has several tokens in one.
MAX_CHARACTERS_PER_PIECE = 8
# Providers do not bill these calls: they refused them, or were never reached.
UNBILLED = {
    FailureCode.UNREACHABLE,
    FailureCode.ADDRESS_REFUSED,
    FailureCode.REFUSED_KEY,
    FailureCode.ACCOUNT,
    FailureCode.FORBIDDEN,
    FailureCode.UNKNOWN_MODEL,
    FailureCode.UNKNOWN_ADDRESS,
    FailureCode.UNSUPPORTED,
    FailureCode.REJECTED,
    FailureCode.PROMPT_TOO_LONG,
    FailureCode.RATE_LIMITED,
    FailureCode.REDIRECTED,
}
# Columns written when a call ends.
OUTCOME_FIELDS = [
    "state", "error", "finish_reason", "first_token_ms", "total_ms", "prompt_tokens", "completion_tokens",
    "reasoning_tokens", "tokens_estimated", "cost", "provider_request_id",
]  # fmt: skip


def set_outcome(prepared: PreparedCall, result: CallResult) -> dict[str, object]:
    """Set the row's OUTCOME_FIELDS without saving; return their values."""
    call, completion = prepared.row, result.completion
    set_token_counts(prepared, result)
    call.state = Call.State.FAILED if result.error else Call.State.STOPPED if result.stopped else Call.State.DONE
    call.reasoning_tokens = _reasoning_tokens(call, result)
    if call.price is not None:
        call.cost = _cost(call, result)
    call.first_token_ms, call.total_ms = result.first_token_ms, result.total_ms
    call.finish_reason = "stopped" if result.stopped else completion.finish_reason
    call.error, call.provider_request_id = result.error or "", completion.request_id
    return {name: getattr(call, name) for name in OUTCOME_FIELDS}


def set_token_counts(prepared: PreparedCall, result: CallResult) -> None:
    """Set the row's tokens without saving: as reported, or else estimated."""
    call, completion = prepared.row, result.completion
    call.prompt_tokens, call.completion_tokens = completion.prompt_tokens, completion.completion_tokens
    if result.was_sent and (call.prompt_tokens is None or call.completion_tokens is None):
        call.tokens_estimated = True
        sent = conversation_length(prepared.request.messages)
        call.prompt_tokens = _estimate_tokens(sent + tooling_bytes(prepared.request.parameters))
        call.completion_tokens = _estimate_completion(result)


def _estimate_completion(result: CallResult) -> int:
    """Return the pieces of a stopped stream that are about a token each, otherwise an estimate by characters."""
    characters = sum(map(len, result.texts + result.reasonings)) + result.tool_characters
    pieces = result.completion.pieces
    if result.stopped and characters <= pieces * MAX_CHARACTERS_PER_PIECE:
        return pieces
    return _estimate_tokens(characters)


def _reasoning_tokens(call: Call, result: CallResult) -> int:
    """Return the provider's count, or completion tokens times reasoning's share of the characters."""
    completion_tokens, reported = call.completion_tokens or 0, result.completion.reasoning_tokens
    if reported is not None:
        return min(reported, completion_tokens)
    reasoning, text = sum(map(len, result.reasonings)), sum(map(len, result.texts))
    return round(completion_tokens * reasoning / (reasoning + text)) if reasoning else 0


def _cost(call: Call, result: CallResult) -> Decimal:
    if call.price is None or not result.was_sent or result.error in UNBILLED:
        return Decimal(0)
    cost = call.price.cost_of(prompt_tokens=call.prompt_tokens or 0, completion_tokens=call.completion_tokens or 0)
    return cost.quantize(spending.COST_QUANTUM)


def _estimate_tokens(characters: int) -> int:
    return -(-characters // CHARACTERS_PER_TOKEN)
