"""Outcomes of calls: state, tokens and cost, computed from results without a database."""

from decimal import Decimal
from typing import NamedTuple

from battles.calls.values import MAX_TOOL_TEMPLATE_TOKENS, CallResult, PreparedCall, sent_bytes
from battles.models import Call
from battles.prompting.messages import CHARACTERS_PER_TOKEN
from models_registry import spending
from models_registry.providers import FailureCode
from models_registry.providers.base import MAX_TOKENS_PER_IMAGE
from models_registry.providers.kinds import CAPS
from models_registry.providers.oddities import Oddity
from models_registry.providers.sizes import TextSize

# A reported number below this part of the estimate is not believed: docs/adr/0064.
MAX_DOUBT = 4
# A chat template may bring a system prompt of its own; that of gpt-oss has about 80 tokens.
MAX_SYSTEM_TEMPLATE_TOKENS = 128
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
        call.cost = _cost(prepared, result)
    call.first_token_ms, call.total_ms = result.first_token_ms, result.total_ms
    call.finish_reason = "stopped" if result.stopped else completion.finish_reason
    call.error, call.provider_request_id = result.error or "", completion.request_id
    return {name: getattr(call, name) for name in OUTCOME_FIELDS}


def set_token_counts(prepared: PreparedCall, result: CallResult) -> None:
    """Set the row's tokens without saving: as reported within the bounds of docs/adr/0064, otherwise estimated."""
    call, completion = prepared.row, result.completion
    if call.completion_tokens is not None:  # counted before, for the payload
        return
    call.prompt_tokens, call.completion_tokens = completion.prompt_tokens, completion.completion_tokens
    if not result.was_sent:
        return
    prompt, answer = _prompt_bounds(prepared), _answer_bounds(prepared, result)
    if call.prompt_tokens is None and call.completion_tokens is None and completion.total_tokens:
        call.prompt_tokens = min(prompt.estimate, completion.total_tokens)
        call.completion_tokens = completion.total_tokens - call.prompt_tokens
    if call.prompt_tokens is None and call.completion_tokens is None and not result.error and not result.stopped:
        completion.oddities.add(Oddity.NO_USAGE)
    call.prompt_tokens, is_prompt_reported = _believed(call.prompt_tokens, prompt, completion.oddities)
    call.completion_tokens, is_answer_reported = _believed(call.completion_tokens, answer, completion.oddities)
    call.tokens_estimated = not (is_prompt_reported and is_answer_reported)


class _Bounds(NamedTuple):
    """estimate: booked if nothing is reported, or less than `minimum`. booked: if more than `maximum` is."""

    estimate: int
    minimum: float
    maximum: int
    booked: int


def _believed(reported: int | None, bounds: _Bounds, oddities: set[Oddity]) -> tuple[int, bool]:
    """Return the tokens to book, and whether they are those reported."""
    if reported is None:
        return bounds.estimate, False
    if reported < bounds.minimum:
        oddities.add(Oddity.USAGE_TOO_LOW)
        return bounds.estimate, False
    if reported > bounds.maximum:
        oddities.add(Oddity.USAGE_TOO_HIGH)
        return bounds.booked, False
    return reported, True


def _prompt_bounds(prepared: PreparedCall) -> _Bounds:
    request, size = prepared.request, prepared.request.size
    tools = sent_bytes(request.parameters)
    estimate = _estimate_tokens(size.text.bytes + tools) + size.images * MAX_TOKENS_PER_IMAGE
    extra_tokens = tools + MAX_TOOL_TEMPLATE_TOKENS if tools else 0
    booked = spending.max_prompt_tokens(request.model, size, extra_tokens=extra_tokens, context=request.context_tokens)
    # Pictures and tools are left out: their tokens differ too much between providers.
    return _Bounds(estimate, _least(size.text), booked + MAX_SYSTEM_TEMPLATE_TOKENS, booked)


def _answer_bounds(prepared: PreparedCall, result: CallResult) -> _Bounds:
    caps = [value for name, value in prepared.request.parameters.items() if name in CAPS and isinstance(value, int)]
    max_tokens = max(caps) if caps else prepared.row.model.max_tokens
    text = "".join(result.texts + result.reasonings)
    size = TextSize.of(text)
    estimate = _estimate_completion(result, len(text), size)
    # A server may ignore the cap: its visible text explains as many tokens as it is estimated at.
    return _Bounds(estimate, _least(size), max(max_tokens, estimate), max_tokens)


def _least(size: TextSize) -> float:
    """Return the smallest believable number of tokens."""
    tokens = _estimate_tokens(size.bytes) / MAX_DOUBT
    return tokens if tokens < 2 else _estimate_tokens(size.squeezed) / MAX_DOUBT


def _estimate_completion(result: CallResult, characters: int, size: TextSize) -> int:
    """Return the pieces of a stopped stream that are about a token each, otherwise an estimate by its size."""
    pieces = result.completion.pieces
    if result.stopped and characters + result.tool_characters <= pieces * MAX_CHARACTERS_PER_PIECE:
        return pieces
    return _estimate_tokens(size.bytes + result.tool_characters)


def _reasoning_tokens(call: Call, result: CallResult) -> int:
    """Return the provider's count, or completion tokens times reasoning's share of the characters."""
    completion_tokens, reported = call.completion_tokens or 0, result.completion.reasoning_tokens
    if reported is not None:
        return min(reported, completion_tokens)
    reasoning, text = sum(map(len, result.reasonings)), sum(map(len, result.texts))
    return round(completion_tokens * reasoning / (reasoning + text)) if reasoning else 0


def _cost(prepared: PreparedCall, result: CallResult) -> Decimal:
    call, completion = prepared.row, result.completion
    is_reported = bool(completion.prompt_tokens or completion.completion_tokens)
    if call.price is None or not result.was_sent or (result.error in UNBILLED and not is_reported):
        return Decimal(0)
    cost = call.price.cost_of(prompt_tokens=call.prompt_tokens or 0, completion_tokens=call.completion_tokens or 0)
    cost = (cost + prepared.fee).quantize(spending.COST_QUANTUM)
    return cost if call.charge is None else min(cost, call.charge.most)


def _estimate_tokens(size: int) -> int:
    return -(-size // CHARACTERS_PER_TOKEN)
