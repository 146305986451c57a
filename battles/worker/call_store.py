"""Database access of calls: slot, reservation, row, outcome, cost. Order of locks: see turn_store."""

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal
from functools import partial
from typing import TypedDict

import msgspec
from django.db import connection, transaction
from django.db.models.functions import Now
from django.utils.safestring import SafeString

from battles.models import Answer, Call, CallQuerySet, Turn
from battles.prompting.messages import CHARACTERS_PER_TOKEN, message_length
from battles.sql import read_sql
from battles.worker.call_slots import take_slots
from battles.worker.slot_queue import announce_freed
from common.payload_types import JsonObject
from common.valkey import counters
from models_registry import spending
from models_registry.encryption import KeyUnreadable
from models_registry.health import outcomes
from models_registry.models import Charge, LanguageModel, Price
from models_registry.models.ledger import are_paid_calls_halted
from models_registry.providers import ChatRequest, Completion, FailureCode
from models_registry.providers.base import Message
from models_registry.providers.kinds import CAPS, TOOLING

logger = logging.getLogger(__name__)

# Tokens that a provider adds to explain tools to its model.
MAX_TOOL_TEMPLATE_TOKENS = 1_000
# A stream whose pieces are longer on average has several tokens in one.
MAX_CHARACTERS_PER_PIECE = 8
# Providers do not bill these calls: they refused them, or were never reached.
UNBILLED = {
    FailureCode.UNREACHABLE,
    FailureCode.ADDRESS_REFUSED,
    FailureCode.REFUSED_KEY,
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


@dataclass(frozen=True)
class PlannedCall:
    """A call without a row yet."""

    model: LanguageModel  # with its provider
    messages: list[Message]
    answer: Answer | None = None
    purpose: Call.Purpose = Call.Purpose.ANSWER
    side: str = ""
    turns: list[int] = field(default_factory=list)
    max_tokens: int = 0  # overrides the model's own cap
    lease: timedelta | None = None  # of a call without an answer
    person: str = ""  # the payer's Actor.key
    attempt: int = 1
    fence: int = 0
    # Overrides of the model's own parameters.
    overrides: JsonObject = field(default_factory=dict)

    @property
    def parameters(self) -> JsonObject:
        parameters = self.model.parameters_with(self.overrides) if self.overrides else self.model.sent_parameters
        if not self.max_tokens:
            return parameters
        return parameters | dict.fromkeys(CAPS & parameters.keys(), self.max_tokens)


@dataclass(frozen=True)
class PreparedCall:
    """A call with a row, ready to be sent unless it has a `refusal`."""

    row: Call  # with its model and price
    answer_id: int  # 0 without an answer
    turn_id: int
    side: str
    request: ChatRequest
    refusal: FailureCode | None = None
    must_wait: bool = False  # for a slot: see acquire_slot


@dataclass
class CallResult:
    texts: list[str] = field(default_factory=list)
    html: SafeString = field(default_factory=SafeString)
    reasonings: list[str] = field(default_factory=list)
    completion: Completion = field(default_factory=Completion)
    error: FailureCode | None = None
    upstream: str = ""
    retry_after: float | None = None
    stopped: bool = False
    # A call that ended before it was sent costs nothing and does not affect breakers.
    was_sent: bool = True
    tool_characters: int = 0
    first_token_ms: int | None = None
    total_ms: int = 0

    @property
    def is_sent_to_its_end(self) -> bool:
        return self.was_sent and not self.stopped


def create_calls(planned: Sequence[PlannedCall]) -> list[PreparedCall]:
    """Acquire slots, reserve money and insert rows. Last in a transaction: its locks last until COMMIT."""
    if not planned:
        return []
    may_start = take_slots([plan.model for plan in planned])
    charges, unaffordable = _reserve(planned)
    prepared = _insert(planned, charges, may_start)
    for number in unaffordable:
        prepared[number] = replace(prepared[number], refusal=FailureCode.OVER_BUDGET)
    return prepared


def start_call(plan: PlannedCall, *, person: str) -> PreparedCall | FailureCode:
    """Take a slot, reserve money and insert a call without an answer. Last in a transaction, as create_calls.

    Return RATE_LIMITED without a free slot and OVER_BUDGET without money, and store nothing then.
    """
    if take_slots([plan.model]) == [False]:
        return FailureCode.RATE_LIMITED
    charges, unaffordable = _reserve([replace(plan, person=person)])
    return FailureCode.OVER_BUDGET if unaffordable else insert_started([plan], charges)[0]


def insert_started(planned: Sequence[PlannedCall], charges: Mapping[int, Charge]) -> list[PreparedCall]:
    """Insert calls without an answer whose slots are taken and whose charges, by position, are reserved."""
    return _insert(planned, charges, [True] * len(planned))


def _insert(
    planned: Sequence[PlannedCall], charges: Mapping[int, Charge], may_start: Sequence[bool]
) -> list[PreparedCall]:
    # In one statement, because runs insert thousands a minute: docs/adr/0052.
    rows: list[JsonObject] = []
    for number, plan in enumerate(planned):
        charge = charges.get(number)
        price = _price(plan, charge)
        rows.append(
            {
                "answer_id": plan.answer and plan.answer.pk, "purpose": plan.purpose,
                "lease_s": plan.lease.total_seconds() if plan.lease else None,
                "model_id": plan.model.pk, "attempt": plan.attempt, "fence": plan.fence,
                "state": Call.State.RUNNING if may_start[number] else Call.State.WAITING,
                "request": _logged(plan), "price_id": price and price.pk, "charge_id": charge and charge.pk,
            }
        )  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(read_sql("insert_calls.sql"), [msgspec.json.encode(rows).decode()])
        numbers = sorted(pk for (pk,) in cursor.fetchall())
    prepared = []
    for number, (plan, pk) in enumerate(zip(planned, numbers, strict=True)):
        charge = charges.get(number)
        row = Call(
            pk=pk, purpose=plan.purpose, model=plan.model, attempt=plan.attempt, fence=plan.fence, charge=charge,
            price=_price(plan, charge),
        )  # fmt: skip
        request, refusal = _build_request(plan)
        ids = (0, 0) if plan.answer is None else (plan.answer.pk, plan.answer.turn_id)
        prepared.append(PreparedCall(row, *ids, plan.side, request, refusal, not may_start[number]))
    return prepared


def _price(plan: PlannedCall, charge: Charge | None) -> Price | None:
    return plan.model.price if charge is None else charge.price


def _logged(plan: PlannedCall) -> JsonObject:
    """Return the log's facts of a request: none of a caller's texts."""
    texts = TOOLING | {"stop"} if plan.purpose == Call.Purpose.GATEWAY else frozenset()
    parameters = {name: value for name, value in plan.parameters.items() if name not in texts}
    return {"model": plan.model.upstream_name, "parameters": parameters, "turns": plan.turns}


def _reserve(planned: Sequence[PlannedCall]) -> tuple[dict[int, Charge], set[int]]:
    """Return charges by position in `planned`, and the positions of calls over budget."""
    reserved_before, bills = {}, {}
    for number, plan in enumerate(planned):
        charge = plan.answer.charge if plan.answer else None
        if charge is not None and charge.cost is None:
            reserved_before[number] = charge
        elif bill := bill_for(plan, plan.person):
            bills[number] = bill
    reserved = spending.reserve_affordable(bills)
    unaffordable = bills.keys() - reserved.keys()
    if reserved_before and are_paid_calls_halted():
        unaffordable |= reserved_before.keys()
    return reserved_before | reserved, unaffordable


def bill_for(plan: PlannedCall, person: str) -> Charge | None:
    tools = _tooling_bytes(plan.overrides)
    beside = tools + MAX_TOOL_TEMPLATE_TOKENS if tools else 0
    return spending.bill(plan.model, plan.messages, person=person, max_tokens=plan.max_tokens, beside=beside)


def _tooling_bytes(parameters: JsonObject) -> int:
    """Return the bytes of tools and the like, which are part of the prompt."""
    return sum(len(msgspec.json.encode(value)) for name, value in parameters.items() if name in TOOLING)


def _build_request(plan: PlannedCall) -> tuple[ChatRequest, FailureCode | None]:
    provider = plan.model.provider
    refusal = None
    try:
        key = provider.read_key()
    except KeyUnreadable:
        logger.error("the key of provider %s cannot be decrypted", provider.pk)
        key, refusal = "", FailureCode.NO_KEY
    if (provider.needs_key and not key) or not provider.endpoint:
        refusal = FailureCode.NO_KEY
    request = ChatRequest(
        base_url=provider.endpoint, key=key, model=plan.model.upstream_name, messages=plan.messages,
        parameters=plan.parameters, deadlines=provider.deadlines,
        finish_reason_required=provider.finish_reason_required,
    )  # fmt: skip
    return request, refusal


def acquire_slot(prepared: PreparedCall) -> bool:
    """Start a waiting call if a slot is free; return whether it was. In a transaction."""
    may_start = take_slots([prepared.row.model]) == [True]
    if may_start:
        Call.objects.filter(pk=prepared.row.pk, state=Call.State.WAITING).update(
            state=Call.State.RUNNING, started_at=Now()
        )
    return may_start


class StoredAnswer(TypedDict):
    answer_id: int
    answer_state: Answer.State
    answer_error: str
    text: str
    html: str
    reasoning: str
    leaks_identity: bool


Ended = tuple[PreparedCall, CallResult]


def close(prepared: PreparedCall, result: CallResult) -> None:
    """Store the result, settle the cost, record the outcome for breakers. Last in a transaction."""
    if store_result(prepared, result):
        record_outcomes([(prepared, result)])


def store_result(prepared: PreparedCall, result: CallResult) -> bool:
    """Store the result and settle the cost; False if closed before. Last but for breakers in a transaction."""
    closed = _store([(prepared, result, None)])
    _count_on_commit(closed)
    settle(closed)
    return bool(closed)


def store_results(results: Sequence[Ended]) -> dict[int, Decimal]:
    """Store results in one statement; return the costs of calls that were still open, by id."""
    closed = _store([(*ended, None) for ended in results])
    settle(closed)
    return {prepared.row.pk: prepared.row.cost or Decimal(0) for prepared, _ in closed}


def store_calls_of_answers(stored: Sequence[tuple[PreparedCall, CallResult, StoredAnswer]]) -> list[Ended]:
    """Store answers with their calls' results in one statement; return the calls that were open."""
    closed = _store(stored)
    _count_on_commit(closed)
    return closed


def _store(results: Sequence[tuple[PreparedCall, CallResult, StoredAnswer | None]]) -> list[Ended]:
    rows = [
        {"id": prepared.row.pk, **outcome_of(prepared, result), **(answer or {})}
        for prepared, result, answer in results
    ]
    with connection.cursor() as cursor:
        cursor.execute(read_sql("close_calls.sql"), [msgspec.json.encode(rows).decode()])
        closed = {pk for (pk,) in cursor.fetchall()}
    ended = [(prepared, result) for prepared, result, _ in results if prepared.row.pk in closed]
    announce_freed(prepared.row.model for prepared, _ in ended)
    return ended


def settle(closed: Sequence[Ended]) -> None:
    """Settle the costs of calls that were just closed. Last but for breakers in a transaction."""
    calls = [prepared.row for prepared, _ in closed]
    if costs := {call.charge_id: call.cost for call in calls if call.charge_id and call.cost is not None}:
        spending.settle(costs)


def record_outcomes(closed: Sequence[Ended]) -> None:
    """Record for breakers how calls ended. Last in a transaction."""
    # Breakers of several answers are locked in one order; a failure comes alone (turn_store.store_answers).
    outcomes.record_answers(
        [prepared.row.model for prepared, result in closed if result.is_sent_to_its_end and not result.error]
    )
    for prepared, result in closed:
        if result.error and (result.is_sent_to_its_end or result.error is FailureCode.NO_KEY):
            outcomes.record_outcome(prepared.row.model, result.error, retry_after=result.retry_after)


def _count_on_commit(closed: Sequence[Ended]) -> None:
    for prepared, _ in closed:
        transaction.on_commit(partial(_count, prepared.row))


def outcome_of(prepared: PreparedCall, result: CallResult) -> dict[str, object]:
    """Set the row's OUTCOME_FIELDS without saving; return their values."""
    call, completion = prepared.row, result.completion
    estimate_tokens(prepared, result)
    call.state = Call.State.FAILED if result.error else Call.State.STOPPED if result.stopped else Call.State.DONE
    call.reasoning_tokens = _reasoning_tokens(call, result)
    if call.price is not None:
        call.cost = _cost(call, result)
    call.first_token_ms, call.total_ms = result.first_token_ms, result.total_ms
    call.finish_reason = "stopped" if result.stopped else completion.finish_reason
    call.error, call.provider_request_id = result.error or "", completion.request_id
    return {name: getattr(call, name) for name in OUTCOME_FIELDS}


def estimate_tokens(prepared: PreparedCall, result: CallResult) -> None:
    """Set the row's tokens without saving: as reported, or else estimated."""
    call, completion = prepared.row, result.completion
    call.prompt_tokens, call.completion_tokens = completion.prompt_tokens, completion.completion_tokens
    if result.was_sent and (call.prompt_tokens is None or call.completion_tokens is None):
        call.tokens_estimated = True
        sent = sum(map(message_length, prepared.request.messages))
        call.prompt_tokens = _estimate_tokens(sent + _tooling_bytes(prepared.request.parameters))
        call.completion_tokens = _estimate_completion(result)


def _estimate_completion(result: CallResult) -> int:
    """Return the pieces of a stopped stream that are about a token each, otherwise an estimate by characters."""
    characters = sum(map(len, result.texts + result.reasonings)) + result.tool_characters
    pieces = result.completion.pieces
    if result.stopped and characters <= pieces * MAX_CHARACTERS_PER_PIECE:
        return pieces
    return _estimate_tokens(characters)


def _count(call: Call) -> None:
    counters.add("calls", call.model.slug, call.error or call.state)
    if call.first_token_ms is not None:
        counters.observe("first_token", call.model.slug, ms=call.first_token_ms)


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


def mark_lost(turn: Turn, *, is_final: bool = False) -> None:
    """Mark unfinished calls LOST, charged at the maximum: their cost is unknown. Last in a transaction.

    is_final: there is no retry; release reservations without a call.
    """
    costs = _mark_lost(Call.objects.unfinished().filter(answer__turn=turn))
    if is_final:
        unused = Charge.objects.filter(answer__turn=turn, call=None, cost=None)
        costs |= dict.fromkeys(unused.values_list("pk", flat=True), Decimal(0))
    spending.settle(costs)


@transaction.atomic
def mark_abandoned_lost() -> None:
    """Mark calls without an answer LOST whose own lease expired."""
    spending.settle(_mark_lost(Call.objects.abandoned()))


def mark_calls_lost(calls: Collection[int]) -> Decimal:
    """Mark unfinished calls LOST, charged at the maximum; return US dollars. Last in a transaction."""
    costs = _mark_lost(Call.objects.unfinished().filter(pk__in=calls).order_by("pk"))
    spending.settle(costs)
    return sum(costs.values(), Decimal(0))


def _mark_lost(calls: CallQuerySet) -> dict[int, Decimal]:
    """Return US dollars by charge."""
    costs = {}
    for call in calls.select_related("charge"):
        if call.charge is not None:
            call.cost = call.charge.most if call.state == Call.State.RUNNING else Decimal(0)
            call.tokens_estimated = True
            costs[call.charge.pk] = call.cost
        call.state, call.error = Call.State.LOST, FailureCode.INTERRUPTED
        call.save(update_fields=["state", "error", "cost", "tokens_estimated"])
    return costs
