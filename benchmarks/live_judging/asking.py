"""Questions about voted battles: claimed, sent on the loop of a worker, and their verdicts stored.

Order of locks: judge; question; provider; call; charge; spending days; pace. A question that another transaction holds
is skipped.
"""

import asyncio
import logging
import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

import msgspec
from django.db import transaction
from django.db.models import DecimalField, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from battles.calls import (
    Attempt,
    CallResult,
    PlannedCall,
    PreparedCall,
    bill_for,
    insert_started,
    mark_calls_lost,
    record_failure,
    store_result,
    take_slots,
)
from battles.models import Call
from battles.prompting.messages import context_characters, conversation_length, with_system_prompt
from benchmarks.judging.rubrics import Rubric
from benchmarks.judging.verdicts import Verdict, read_verdict
from benchmarks.live_judging.reading import messages_about, reason_against
from benchmarks.models import LiveCall, LiveDraw, LiveJudge, LiveJudgement
from benchmarks.models.entrant_calls import SETUP_FAILURES
from benchmarks.worker import pace
from benchmarks.worker.store import TRANSIENT, may_retry
from common.db.execution import run_in_db, run_in_db_with_retry
from models_registry import spending
from models_registry.health import outcomes
from models_registry.models import Charge, LanguageModel
from models_registry.models.ledger import next_month, today
from models_registry.providers import ChatProvider, FailureCode
from models_registry.providers.base import Message
from models_registry.providers.kinds import CAPS

logger = logging.getLogger(__name__)

MAX_AT_ONCE = 4
SITE_BUDGET_PAUSE = timedelta(minutes=10)
# Pause from the second failure of a question on.
FAILURE_PAUSE = timedelta(minutes=5)
_State = LiveJudgement.State


@dataclass(frozen=True)
class Claimed:
    """A question of this process, with its call."""

    live_id: int
    judgement_id: int
    fence: int
    call: PreparedCall
    rubric: Rubric


@transaction.atomic
def claim() -> Claimed | None:
    """Claim a due question, and start its call."""
    judges = LiveJudge.objects.select_for_update(no_key=True, of=("self",)).select_related("judge__model__provider")
    live = judges.filter(is_on=True).first()
    if live is None or (live.waits_until is not None and live.waits_until > timezone.now()):
        return None
    if live.judge.model.status != LanguageModel.Status.ACTIVE:
        _wait(live, timezone.now() + FAILURE_PAUSE, LiveJudge.Waiting.MODEL_AWAY)
        return None
    asking = LiveJudgement.objects.filter(state=_State.ASKING, draw__live_judge=live)
    if asking.count() >= MAX_AT_ONCE:
        return None
    while (judgement := _next_question(live)) is not None:
        messages = _messages(live, judgement)
        if messages is not None:
            return _start(live, judgement, messages)
    return None


def _next_question(live: LiveJudge) -> LiveJudgement | None:
    due = LiveJudgement.objects.due().filter(draw__live_judge=live).order_by("due_at", "pk")
    locked = due.select_for_update(skip_locked=True, of=("self",))
    return locked.select_related("draw__battle__session", "draw__battle__vote").first()


def _messages(live: LiveJudge, judgement: LiveJudgement) -> list[Message] | None:
    """Return None for a battle that was left out, or is too long."""
    draw = judgement.draw
    if reason := reason_against(live.judge, draw.battle):
        LiveDraw.objects.filter(pk=draw.pk).update(left_out=reason)
        draw.judgements.all().delete()
        return None
    model = live.judge.model
    messages = with_system_prompt(model, messages_about(live.judge, judgement))
    if conversation_length(messages) > context_characters(model, reply_tokens=model.max_tokens):
        LiveJudgement.objects.filter(pk=judgement.pk).update(
            state=_State.FAILED, error=FailureCode.TOO_LONG, finished_at=timezone.now()
        )
        return None
    return messages


def _start(live: LiveJudge, judgement: LiveJudgement, messages: list[Message]) -> Claimed | None:
    model, overrides = live.judge.model, live.judge.parameters
    lease = timedelta(seconds=model.provider.deadlines["total"]) + LiveCall.LEASE_MARGIN
    plan = PlannedCall(
        model, messages, purpose=Call.Purpose.JUDGE, lease=lease, overrides=overrides,
        max_tokens=max((int(overrides[name]) for name in CAPS & overrides.keys()), default=0),
        conversation=f"live judge:{live.pk}", attempt=judgement.attempt + 1, fence=judgement.fence + 1,
    )  # fmt: skip
    if take_slots([model], background=True, paces=pace.read_paces([model.provider_id])) == [False]:
        return None
    charges = _reserve(live, plan)
    if charges is None:
        return None
    [call] = insert_started([plan], charges)
    LiveCall.objects.create(call=call.row, judgement=judgement)
    judgement.state, judgement.attempt, judgement.fence = _State.ASKING, plan.attempt, plan.fence
    judgement.lease_until, judgement.call = timezone.now() + lease, call.row
    judgement.save(update_fields=["state", "attempt", "fence", "lease_until", "call"])
    return Claimed(live.pk, judgement.pk, plan.fence, call, msgspec.convert(live.judge.rubric, Rubric))


def _reserve(live: LiveJudge, plan: PlannedCall) -> dict[int, Charge] | None:
    """Return the charge, none of a free call; None without money, for which the judge then waits."""
    bill = bill_for(plan, "")
    if bill is None:
        return {}
    day = today()
    for since, budget, ends, reason in (
        (day, live.day_budget, day + timedelta(days=1), LiveJudge.Waiting.DAY_BUDGET),
        (day.replace(day=1), live.month_budget, next_month(day.replace(day=1)), LiveJudge.Waiting.MONTH_BUDGET),
    ):
        if used_since(since) + bill.most > budget:
            _wait(live, datetime.combine(ends, time(), UTC), reason)
            return None
    try:
        return dict(enumerate(spending.reserve([bill])))
    except spending.OverBudget as error:
        logger.warning("a battle is judged later: over the budget of %s", error.account or "halted paid calls")
        _wait(live, timezone.now() + SITE_BUDGET_PAUSE, LiveJudge.Waiting.SITE_BUDGET)
        return None


def used_since(day: date) -> Decimal:
    """Return US dollars spent and reserved by judges of voted battles since a day began."""
    calls = LiveCall.objects.filter(call__charge__day__gte=day)
    cost = Coalesce("call__charge__cost", "call__charge__most", output_field=DecimalField())
    return Decimal(calls.aggregate(used=Sum(cost))["used"] or 0)


def _wait(live: LiveJudge, until: datetime, reason: str) -> None:
    LiveJudge.objects.filter(pk=live.pk).update(waits_until=until, waits_for=reason)


def store(claimed: Claimed, result: CallResult) -> None:
    """Store an ended call, and its verdict if the fence holds. May run twice."""
    if result.error is None and not result.stopped and not result.has_text:
        result.error = result.missing_answer().code
    error = result.error
    with transaction.atomic():
        held = LiveJudgement.objects.filter(pk=claimed.judgement_id, fence=claimed.fence, state=_State.ASKING)
        judgement = held.select_for_update().first()
        if judgement is not None:
            _note_end(judgement, claimed.rubric, result)
            judgement.save()
        is_closed = store_result(claimed.call, result)
        pace.observe(_observed(claimed, result), known={})
    if is_closed and error is None and not result.stopped:
        with transaction.atomic():
            outcomes.record_answers([claimed.call.row.model])
    if is_closed and error in TRANSIENT | SETUP_FAILURES.keys():
        _note_failure(claimed, result, is_repeated=judgement is not None and judgement.attempt > 1)


def _note_end(judgement: LiveJudgement, rubric: Rubric, result: CallResult) -> None:
    judgement.lease_until, judgement.error = None, result.error or ""
    if result.stopped:
        judgement.state, judgement.attempt = _State.QUEUED, judgement.attempt - 1
    elif result.error is not None:
        if may_retry(result.error, judgement.attempt, LiveJudgement.MAX_ATTEMPTS):
            delay = max(2.0**judgement.attempt * random.uniform(0.75, 1.25), result.retry_after or 0.0)  # noqa: S311
            judgement.state, judgement.due_at = _State.QUEUED, timezone.now() + timedelta(seconds=delay)
        else:
            judgement.state, judgement.finished_at = _State.FAILED, timezone.now()
    else:
        text = "".join(result.texts)
        _note_verdict(judgement, text, read_verdict(text, rubric, finish_reason=result.completion.finish_reason))


def _note_verdict(judgement: LiveJudgement, text: str, verdict: Verdict | None) -> None:
    if verdict is None or verdict.outcome is None:
        if judgement.turn < LiveJudgement.LAST_TURN:
            judgement.state, judgement.turn, judgement.attempt = _State.QUEUED, judgement.turn + 1, 0
            judgement.text = text
        else:
            judgement.state, judgement.finished_at = _State.UNPARSED, timezone.now()
        return
    judgement.state, judgement.finished_at, judgement.label = _State.DONE, timezone.now(), verdict.label
    judgement.outcome = 1 - verdict.outcome if judgement.is_swapped else verdict.outcome
    judgement.text = judgement.text or text  # the reasons are in the first answer


def _observed(claimed: Claimed, result: CallResult) -> dict[int, pace.Observed]:
    seen = pace.Observed()
    if result.error is FailureCode.RATE_LIMITED:
        seen.refusals, seen.retry_after = 1, result.retry_after or 0.0
    elif result.error is None and not result.stopped:
        seen.answers = 1
    return {claimed.call.row.model.provider_id: seen}


def _note_failure(claimed: Claimed, result: CallResult, *, is_repeated: bool) -> None:
    """Record the failure for breakers, but not a 429; let the judge wait."""
    if result.error is not FailureCode.RATE_LIMITED:
        with transaction.atomic():
            record_failure(claimed.call, result)
    if is_repeated or result.error in SETUP_FAILURES:
        LiveJudge.objects.filter(pk=claimed.live_id).update(
            waits_until=timezone.now() + FAILURE_PAUSE, waits_for=LiveJudge.Waiting.MODEL_AWAY
        )


@transaction.atomic
def settle_orphaned() -> None:
    mark_calls_lost(list(LiveCall.objects.orphaned().values_list("pk", flat=True)))


def requeue_abandoned() -> None:
    """Requeue questions of lost workers, whose calls are charged at the maximum."""
    for pk in LiveJudgement.objects.abandoned().order_by("pk").values_list("pk", flat=True):
        with transaction.atomic():
            judgement = LiveJudgement.objects.abandoned().select_for_update(skip_locked=True).filter(pk=pk).first()
            if judgement is None:
                continue
            is_last = judgement.attempt >= LiveJudgement.MAX_ATTEMPTS
            judgement.state = _State.FAILED if is_last else _State.QUEUED
            judgement.finished_at = timezone.now() if is_last else None
            judgement.lease_until, judgement.error = None, FailureCode.INTERRUPTED
            judgement.save()
            if judgement.call_id is not None:
                mark_calls_lost([judgement.call_id])
            logger.warning("the lease of live judgement %s expired", pk)


async def judge_battles(provider: ChatProvider, serves_people: Callable[[], bool]) -> None:
    """Ask until no call may start."""
    while (claimed := await run_in_db(claim)) is not None:
        await _ask(claimed, provider)


async def _ask(claimed: Claimed, provider: ChatProvider) -> None:
    attempt = Attempt(claimed.call, provider)
    try:
        await attempt.run()
    except asyncio.CancelledError:
        attempt.result.stopped = True
        raise
    except Exception:
        logger.exception("live judgement %s failed", claimed.judgement_id)
        attempt.result.error = attempt.result.error or FailureCode.INTERRUPTED
    finally:
        # Shielded: an answer that is paid for is stored although this process ends.
        await asyncio.shield(run_in_db_with_retry(store, claimed, attempt.result))
