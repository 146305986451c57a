"""A call's row, from the money and the slot it needs to what it took, what it cost and whose fault it was."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial

from django.db import transaction
from django.db.models.functions import Now
from django.utils.safestring import SafeString

from battles.models import Answer, Call, CallQuerySet, Turn
from battles.prompting.messages import CHARACTERS_PER_TOKEN, length_of
from battles.worker.concurrency import take_slots
from common.payload_types import JsonObject
from common.valkey import counters
from models_registry import spending
from models_registry.encryption import KeyUnreadable
from models_registry.health import outcomes
from models_registry.models import Charge, LanguageModel
from models_registry.models.ledger import are_paid_calls_halted
from models_registry.providers import ChatRequest, Completion, FailureCode
from models_registry.providers.base import Message
from models_registry.providers.kinds import CAPS

logger = logging.getLogger(__name__)

# What no provider bills: it refused, or was never reached.
UNBILLED = {
    FailureCode.UNREACHABLE,
    FailureCode.ADDRESS_REFUSED,
    FailureCode.REFUSED_KEY,
    FailureCode.REJECTED,
    FailureCode.PROMPT_TOO_LONG,
    FailureCode.RATE_LIMITED,
    FailureCode.REDIRECTED,
}
# What is known of a call when it is over.
OUTCOME = [
    "state", "error", "finish_reason", "first_token_ms", "total_ms", "prompt_tokens", "completion_tokens",
    "reasoning_tokens", "tokens_estimated", "cost", "provider_request_id",
]  # fmt: skip


@dataclass(frozen=True)
class Question:
    """What a model is about to be asked (its provider selected); `answer` is None for a probe."""

    model: LanguageModel
    messages: list[Message]
    answer: Answer | None = None
    side: str = ""
    turns: list[int] = field(default_factory=list)
    # Instead of what the model's own parameters say.
    most_tokens: int = 0

    @property
    def parameters(self) -> JsonObject:
        sent = self.model.sent_parameters
        return sent | dict.fromkeys(CAPS & sent.keys(), self.most_tokens) if self.most_tokens else sent


@dataclass(frozen=True)
class PreparedCall:
    """A call whose row exists and which may now be made; with a `refusal`, one that cannot be."""

    row: Call  # with its model and price
    answer_id: int  # 0 for a probe
    side: str
    request: ChatRequest
    refusal: FailureCode | None = None
    # Its provider has no room: battles.worker.call_store.take_slot.
    must_wait: bool = False


@dataclass
class Said:
    """What came of a call."""

    texts: list[str] = field(default_factory=list)
    html: SafeString = field(default_factory=SafeString)
    reasonings: list[str] = field(default_factory=list)
    completion: Completion = field(default_factory=Completion)
    error: FailureCode | None = None
    upstream: str = ""
    retry_after: float | None = None
    stopped: bool = False
    # False: it ended before anything was sent, so it cost nothing and says nothing about the model.
    was_sent: bool = True
    first_token_ms: int | None = None
    total_ms: int = 0

    @property
    def has_text(self) -> bool:
        return any(text.strip() for text in self.texts)


def begin(questions: Sequence[Question], *, person: str, attempt: int = 1, fence: int = 0) -> list[PreparedCall]:
    """A row for each question. Inside a transaction, last: slots and budgets stay locked until COMMIT.

    person: Actor.key of whoever pays, or "".
    """
    may_start = take_slots([question.model for question in questions])
    charges, too_dear = _charges(questions, person)
    rows = [
        Call(
            answer=question.answer, model=question.model, attempt=attempt, fence=fence,
            state=Call.State.RUNNING if may_start[number] else Call.State.WAITING,
            charge=charges.get(number), price=charges[number].price if number in charges else question.model.price,
            request={"model": question.model.upstream_name, "parameters": question.parameters, "turns": question.turns},
        )
        for number, question in enumerate(questions)
    ]  # fmt: skip
    prepared = []
    for number, (question, row) in enumerate(zip(questions, Call.objects.bulk_create(rows), strict=True)):
        request, refusal = _request(question)
        prepared.append(
            PreparedCall(
                row,
                question.answer.pk if question.answer else 0,
                question.side,
                request,
                FailureCode.OVER_BUDGET if number in too_dear else refusal,
                not may_start[number],
            )
        )
    return prepared


def _charges(questions: Sequence[Question], person: str) -> tuple[dict[int, Charge], set[int]]:
    """By a question's number: the money set aside for it, and those for which there is none."""
    taken_over, bills = {}, {}
    for number, question in enumerate(questions):
        waiting = question.answer.charge if question.answer else None
        if waiting is not None and waiting.cost is None:
            taken_over[number] = waiting
        elif bill := spending.bill(question.model, question.messages, person=person, most_tokens=question.most_tokens):
            bills[number] = bill
    reserved = spending.reserve_what_fits(bills)
    too_dear = bills.keys() - reserved.keys()
    if taken_over and are_paid_calls_halted():
        too_dear |= taken_over.keys()
    return taken_over | reserved, too_dear


def _request(question: Question) -> tuple[ChatRequest, FailureCode | None]:
    provider = question.model.provider
    refusal = None
    try:
        key = provider.read_key()
    except KeyUnreadable:
        logger.error("the key of provider %s cannot be decrypted", provider.pk)
        key, refusal = "", FailureCode.NO_KEY
    if (provider.needs_key and not key) or not provider.endpoint:
        refusal = FailureCode.NO_KEY
    request = ChatRequest(
        base_url=provider.endpoint, key=key, model=question.model.upstream_name, messages=question.messages,
        parameters=question.parameters, deadlines=provider.deadlines,
        finish_reason_required=provider.finish_reason_required,
    )  # fmt: skip
    return request, refusal


def take_slot(prepared: PreparedCall) -> bool:
    """Whether a waiting call may start now. Inside a transaction."""
    may_start = take_slots([prepared.row.model]) == [True]
    if may_start:
        Call.objects.filter(pk=prepared.row.pk, state=Call.State.WAITING).update(
            state=Call.State.RUNNING, started_at=Now()
        )
    return may_start


def close(prepared: PreparedCall, said: Said) -> LanguageModel | None:
    """What came of the call, and what it cost. Inside a transaction, last, followed by `feed_breakers` only.

    Returns the model that was asked; None when the call was closed before.
    """
    call, done = prepared.row, said.completion
    call.state = Call.State.FAILED if said.error else Call.State.STOPPED if said.stopped else Call.State.DONE
    call.prompt_tokens, call.completion_tokens = done.prompt_tokens, done.completion_tokens
    if said.was_sent and (call.prompt_tokens is None or call.completion_tokens is None):
        call.tokens_estimated = True
        sent = sum(length_of(message["content"]) for message in prepared.request.messages)
        call.prompt_tokens = _estimated_tokens(sent)
        call.completion_tokens = _estimated_tokens(sum(map(len, said.texts + said.reasonings)))
    call.reasoning_tokens = _reasoning_tokens(call, said)
    if call.price is not None:
        call.cost = _cost(call, said)
    call.first_token_ms, call.total_ms = said.first_token_ms, said.total_ms
    call.finish_reason = "stopped" if said.stopped else done.finish_reason
    call.error, call.provider_request_id = said.error or "", done.request_id
    outcome = {name: getattr(call, name) for name in OUTCOME}
    if not Call.objects.unfinished().filter(pk=call.pk).update(**outcome):
        return None
    transaction.on_commit(partial(_count, call))
    if call.charge_id is not None and call.cost is not None:
        spending.settle({call.charge_id: call.cost})
    return call.model


def _count(call: Call) -> None:
    counters.add("calls", call.model.slug, call.error or call.state)
    if call.first_token_ms is not None:
        counters.observe("first_token", call.model.slug, ms=call.first_token_ms)


def _reasoning_tokens(call: Call, said: Said) -> int:
    """What the provider says, or else reasoning's share of the characters."""
    written, reported = call.completion_tokens or 0, said.completion.reasoning_tokens
    if reported is not None:
        return min(reported, written)
    thought, spoken = sum(map(len, said.reasonings)), sum(map(len, said.texts))
    return round(written * thought / (thought + spoken)) if thought else 0


def _cost(call: Call, said: Said) -> Decimal:
    if call.price is None or not said.was_sent or said.error in UNBILLED:
        return Decimal(0)
    cost = call.price.cost_of(prompt_tokens=call.prompt_tokens or 0, completion_tokens=call.completion_tokens or 0)
    return cost.quantize(spending.SMALLEST)


def _estimated_tokens(characters: int) -> int:
    return -(-characters // CHARACTERS_PER_TOKEN)


def feed_breakers(model: LanguageModel, said: Said) -> None:
    """Inside the transaction that closes the call, last of all."""
    if (said.was_sent and not said.stopped) or said.error is FailureCode.NO_KEY:
        outcomes.record_outcome(model, said.error, retry_after=said.retry_after)


def lose(turn: Turn, *, for_good: bool = False) -> None:
    """Nobody follows the turn's calls any more. What they cost is not known: the most they could is charged.

    for_good: nobody will be asked again, so what was set aside for calls that were never made is free again.
    Inside a transaction, last.
    """
    costs = _lost(Call.objects.unfinished().filter(answer__turn=turn))
    if for_good:
        never_made = Charge.objects.filter(answer__turn=turn, call=None, cost=None)
        costs |= dict.fromkeys(never_made.values_list("pk", flat=True), Decimal(0))
    spending.settle(costs)


@transaction.atomic
def lose_abandoned_probes() -> None:
    """Those whose worker must be gone."""
    spending.settle(_lost(Call.objects.abandoned_probes()))


def _lost(calls: CallQuerySet) -> dict[int, Decimal]:
    """US dollars by charge."""
    costs = {}
    for call in calls.select_related("charge"):
        if call.charge is not None:
            call.cost = call.charge.most if call.state == Call.State.RUNNING else Decimal(0)
            call.tokens_estimated = True
            costs[call.charge.pk] = call.cost
        call.state, call.error = Call.State.LOST, FailureCode.INTERRUPTED
        call.save(update_fields=["state", "error", "cost", "tokens_estimated"])
    return costs
