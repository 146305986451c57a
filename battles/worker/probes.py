"""Tiny real requests: probes of models with an open breaker, neutral questions before one opens, checks of repairs."""

from typing import NamedTuple

from django.db import transaction

from battles.calls import store
from battles.calls.attempt import Attempt
from battles.calls.values import CallResult, PlannedCall, PreparedCall
from battles.models import Call
from battles.prompting.messages import with_system_prompt
from common.db.execution import run_in_db
from models_registry.health import outcomes, repairs
from models_registry.models import LanguageModel, RequestRepair
from models_registry.providers import ChatProvider, FailureCode
from models_registry.providers.base import Message

PROMPT = "Reply with OK."
# The second is for models that reason: fewer tokens would end within their reasoning.
MAX_TOKENS, MAX_REASONING_TOKENS = 16, 512
# Recent calls that tell whether a model reasons.
SEEN_CALLS = 20
_REASONING_PARAMETERS = {"reasoning_effort", "reasoning", "thinking", "enable_thinking", "chat_template_kwargs"}


class _Claimed(NamedTuple):
    call: PreparedCall
    is_question: bool


async def probe(breaker_id: int, provider: ChatProvider) -> None:
    """Send a due probe or question."""
    claimed = await run_in_db(_create_call, breaker_id)
    if claimed is None:
        return
    result = await Attempt(claimed.call, provider).run()
    await run_in_db(_store_outcome, breaker_id, claimed, result)


def messages(model: LanguageModel) -> list[Message]:
    return with_system_prompt(model, [{"role": "user", "content": PROMPT}])


def max_tokens(model: LanguageModel) -> int:
    recent = Call.objects.filter(model=model).order_by("-started_at")[:SEEN_CALLS]
    reasons = not _REASONING_PARAMETERS.isdisjoint(model.parameters) or any(
        recent.values_list("reasoning_tokens", flat=True)
    )
    return MAX_REASONING_TOKENS if reasons else MAX_TOKENS


def plan(model: LanguageModel, *, is_repaired: bool = True, keeps_cap: bool = False) -> PlannedCall:
    """is_repaired: with remembered repairs, and under the conditions of a battle."""
    return PlannedCall(
        model, messages(model), purpose=Call.Purpose.PROBE, max_tokens=0 if keeps_cap else max_tokens(model),
        lease=outcomes.PROBE_LEASE, is_repaired=is_repaired, hides_model=True,
    )  # fmt: skip


def reply_error(result: CallResult) -> FailureCode | None:
    """Return None for any well-formed reply, also reasoning alone or an end by length."""
    has_words = any(part.strip() for part in (*result.texts, *result.reasonings))
    is_finished = bool(result.completion.finish_reason) and (has_words or result.completion.finish_reason == "length")
    return None if is_finished or result.error is FailureCode.TOOL_CALLS else result.error


def _create_call(breaker_id: int) -> _Claimed | None:
    model, is_question = outcomes.take_probe(breaker_id), False
    if model is None:
        model, is_question = outcomes.take_question(breaker_id), True
    if model is None:
        return None
    with transaction.atomic():
        call = store.start_call(plan(model), person="")
    if isinstance(call, FailureCode):
        if is_question:
            outcomes.open_unasked(breaker_id)
        else:
            outcomes.postpone_probe(breaker_id)
        return None
    return _Claimed(call, is_question)


@transaction.atomic
def _store_outcome(breaker_id: int, claimed: _Claimed, result: CallResult) -> None:
    if not store.store_result(claimed.call, result):
        return
    record = outcomes.record_question if claimed.is_question else outcomes.record_probe
    record(breaker_id, reply_error(result), retry_after=result.retry_after)


async def check_repair(repair_id: int, provider: ChatProvider) -> None:
    """Send one call as registered, whose repeat shows what the provider accepts."""
    claimed = await run_in_db(_create_check, repair_id)
    if claimed is not None:
        row, call = claimed
        result = await Attempt(call, provider).run()
        await run_in_db(_store_check, row, call, result)


def _create_check(repair_id: int) -> tuple[RequestRepair, PreparedCall] | None:
    row = repairs.take_check(repair_id)
    if row is None:
        return None
    # A bound on the cap shows only with the model's own cap.
    keeps_cap = " ≤ " in row.repair
    with transaction.atomic():
        call = store.start_call(plan(row.model, is_repaired=False, keeps_cap=keeps_cap), person="")
    if isinstance(call, FailureCode):
        repairs.postpone_check(row)
        return None
    return row, call


@transaction.atomic
def _store_check(row: RequestRepair, call: PreparedCall, result: CallResult) -> None:
    if store.store_result(call, result):
        is_confirmed = row.repair in result.completion.repaired and reply_error(result) is None
        repairs.record_check(row, is_confirmed=is_confirmed)
