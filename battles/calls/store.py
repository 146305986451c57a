"""Database access of calls: slot, reservation, row, outcome, cost. Order of locks: see turn_store."""

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import TypedDict

import msgspec
from django.db import connection, transaction
from django.db.models.functions import Now

from battles.calls.active_people import count_active_people
from battles.calls.counters import count_by_model, count_ended
from battles.calls.outcomes import set_outcome
from battles.calls.slot_queue import announce_freed
from battles.calls.slots import take_slots
from battles.calls.values import MAX_TOOL_TEMPLATE_TOKENS, CallResult, PlannedCall, PreparedCall, sent_bytes
from battles.models import Answer, Call, CallQuerySet, Turn
from battles.prompting.messages import with_system_prompt
from battles.sql import read_sql
from common.payload_types import JsonObject
from models_registry import spending
from models_registry.encryption import KeyUnreadable
from models_registry.health import oddities, outcomes, repairs
from models_registry.models import Charge, Price
from models_registry.models.ledger import Account, are_paid_calls_halted
from models_registry.providers import ChatRequest, FailureCode
from models_registry.providers.repairs import apply_all

logger = logging.getLogger(__name__)


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


def start_call(
    plan: PlannedCall, *, person: str, shares: Mapping[Account, Decimal] = spending.NOTHING
) -> PreparedCall | FailureCode:
    """Take a slot, reserve money and insert a call without an answer. Last in a transaction, as create_calls.

    shares: of spending.reserve. Return RATE_LIMITED without a free slot and OVER_BUDGET without money, and store
    nothing then.
    """
    if take_slots([plan.model]) == [False]:
        return FailureCode.RATE_LIMITED
    bill = bill_for(plan, person)
    try:
        charges = spending.reserve([bill] if bill else [], shares=shares)
    except spending.OverBudget as error:
        logger.warning("a call is not made: over the budget of %s", error.account or "halted paid calls")
        return FailureCode.OVER_BUDGET
    return insert_started([plan], dict(enumerate(charges)))[0]


def insert_started(planned: Sequence[PlannedCall], charges: Mapping[int, Charge]) -> list[PreparedCall]:
    """Insert calls without an answer whose slots are taken and whose charges, by position, are reserved."""
    return _insert(planned, charges, [True] * len(planned))


def _insert(
    planned: Sequence[PlannedCall], charges: Mapping[int, Charge], may_start: Sequence[bool]
) -> list[PreparedCall]:
    # All rows go into one statement, because runs insert thousands a minute: docs/adr/0052.
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
        must_wait, of_whom = not may_start[number], (plan.asker or plan.person, plan.conversation)
        prepared.append(
            PreparedCall(row, *ids, plan.side, request, refusal, must_wait, plan.hides_model, *of_whom, fee=plan.fee)
        )
    return prepared


def _price(plan: PlannedCall, charge: Charge | None) -> Price | None:
    return plan.model.price if charge is None else charge.price


def _logged(plan: PlannedCall) -> JsonObject:
    """Return the log's facts of a request: none of a caller's texts."""
    parameters = plan.parameters
    if plan.purpose == Call.Purpose.GATEWAY:
        parameters = {name: value for name, value in parameters.items() if _is_no_text(name, value)}
    return {"model": plan.model.upstream_name, "parameters": parameters, "turns": plan.turns}


def _is_no_text(name: str, value: object) -> bool:
    return isinstance(value, bool | int | float) or name in ("stream_options", "reasoning_effort", "verbosity")


def _reserve(planned: Sequence[PlannedCall]) -> tuple[dict[int, Charge], set[int]]:
    """Return charges by position in `planned`, and the positions of calls over budget."""
    reserved_before: dict[int, Charge] = {}
    bills: dict[int, Charge | None] = {}
    for number, plan in enumerate(planned):
        charge = plan.answer.charge if plan.answer else None
        if charge is not None and charge.cost is None:
            reserved_before[number] = charge
        elif bill := bill_for(plan, plan.person):
            bills[number] = bill
    affordable, _refusing = spending.reserve_affordable(bills)
    reserved = {number: charge for number, charge in affordable.items() if charge is not None}
    unaffordable = bills.keys() - reserved.keys()
    if reserved_before and are_paid_calls_halted():
        unaffordable |= reserved_before.keys()
    return reserved_before | reserved, unaffordable


def bill_for(plan: PlannedCall, person: str) -> Charge | None:
    tools = sent_bytes(plan.overrides)
    extra_tokens = tools + MAX_TOOL_TEMPLATE_TOKENS if tools else 0
    return spending.bill(
        plan.model, plan.messages, person=person, team_id=plan.team_id, is_quoted=plan.is_quoted,
        max_tokens=plan.max_tokens, extra_tokens=extra_tokens, fee=plan.fee, writes_cache=plan.writes_cache,
    )  # fmt: skip


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
    callers = frozenset(plan.overrides)
    # A caller of the gateway and an administrator's test want an answer; anything else measures this contestant.
    is_contest = plan.is_repaired and plan.purpose not in (Call.Purpose.GATEWAY, Call.Purpose.TEST)
    request = ChatRequest(
        base_url=provider.endpoint, key=key, model=plan.model.upstream_name, messages=plan.messages,
        parameters=plan.parameters, deadlines=provider.deadlines,
        finish_reason_required=provider.finish_reason_required, callers=callers,
        kept=repairs.kept_parameters(plan.model) if is_contest else frozenset(),
        context_tokens=plan.model.context_length or 0,
        reasoning_back=provider.dialect.reasoning_back(plan.model.upstream_name),
        allows_private=provider.allows_private, sends_trace=provider.sends_trace,
    )  # fmt: skip
    request = apply_all(provider.dialect.forms, request)
    if plan.is_repaired:
        known = repairs.repairs_of(plan.model, is_battle=is_contest, callers=callers)
        request = apply_all(known, request) if known else request
    _ = request.size  # long texts are measured in this thread, not on the event loop
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
        {"id": prepared.row.pk, **set_outcome(prepared, result), **(answer or {})}
        for prepared, result, answer in results
    ]
    with connection.cursor() as cursor:
        cursor.execute(read_sql("close_calls.sql"), [msgspec.json.encode(rows).decode()])
        closed = {pk for (pk,) in cursor.fetchall()}
    ended = [(prepared, result) for prepared, result, _ in results if prepared.row.pk in closed]
    for prepared, result in ended:
        if result.completion.repaired or result.parameter:
            _suspect_repairs(prepared, result)
        if ended_oddities := result.completion.oddities:
            # Oddities of a battle's call, blind or not, could tell which model answers: they are recorded later.
            is_late = prepared.row.purpose == Call.Purpose.ANSWER
            oddities.record(prepared.row.model_id, ended_oddities, is_late=is_late)
    announce_freed(prepared.row.model for prepared, _ in ended)
    return ended


def _suspect_repairs(prepared: PreparedCall, result: CallResult) -> None:
    if prepared.row.purpose == Call.Purpose.PROBE:
        return
    names = list(result.completion.repaired) if result.error is None else []
    if result.parameter in prepared.request.kept:
        names.append(f"-{result.parameter}")
    if prepared.request.messages[:1] != with_system_prompt(prepared.row.model, [])[:1]:  # a caller's own
        names = [name for name in names if name != "system → user"]
    repairs.suspect(prepared.row.model, names, callers=prepared.request.callers)


def settle(closed: Sequence[Ended]) -> None:
    """Settle the costs of calls that were just closed. Last but for breakers in a transaction."""
    calls = [prepared.row for prepared, _ in closed]
    if costs := {call.charge_id: call.cost for call in calls if call.charge_id and call.cost is not None}:
        spending.settle(costs)


def record_outcomes(closed: Sequence[Ended]) -> None:
    """Record for breakers how calls ended. Last in a transaction."""
    # Breakers of several answers are locked in one order; a failure comes alone (turn_store.store_answers).
    outcomes.record_answers(
        [prepared.row.model for prepared, result in closed if result.affects_breakers and not result.error]
    )
    for prepared, result in closed:
        if result.error and result.affects_breakers:
            record_failure(prepared, result)


def record_failure(prepared: PreparedCall, result: CallResult, *, is_callers: bool = False) -> None:
    """Record a failed call for breakers. Last in a transaction. is_callers: see outcomes.Origin."""
    origin = outcomes.Origin(prepared.person, prepared.conversation, is_callers, count_active_people)
    outcomes.record_outcome(
        prepared.row.model, result.error, retry_after=result.retry_after, status=result.status, origin=origin
    )


def _count_on_commit(closed: Sequence[Ended]) -> None:
    for prepared, _ in closed:
        transaction.on_commit(partial(_count, prepared))


def _count(prepared: PreparedCall) -> None:
    # leaderboard.counting.revealed_calls counts hidden calls by model.
    call = prepared.row
    outcome = call.error or call.state
    count_ended(outcome, first_token_ms=call.first_token_ms, total_ms=call.total_ms)
    # Names of teams' models are in no metric.
    if not prepared.hides_model and call.model.team_id is None:
        count_by_model(
            call.model.slug, call.model.provider.name, outcome, first_token_ms=call.first_token_ms,
            total_ms=call.total_ms, cost=call.cost,
        )  # fmt: skip


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
