"""Moves of runs that belong to no single call: finishing, pausing, releasing, recovering."""

import logging
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from decimal import Decimal

from django.db import transaction
from django.db.models import Case, F, Q, QuerySet, Value, When
from django.db.models.functions import Greatest, Now

from battles.calls import mark_calls_lost
from battles.models import Call
from benchmarks.models import Entrant, ItemCall, Run, RunItem
from benchmarks.models.entrant_calls import let_go_on
from benchmarks.reports.store import compute_report, store_report
from benchmarks.worker.claims import ClaimedItem
from models_registry.models.ledger import end_of_this_month, end_of_today
from models_registry.providers import FailureCode

logger = logging.getLogger(__name__)

# Longer than a driver's rounds; the sweeper wakes another driver after it.
RUN_LEASE = timedelta(seconds=8)


def renew_run_lease(run_id: int) -> bool:
    """Note that a worker drives the run; return whether it still has work."""
    driven = Run.objects.filter(pk=run_id, state__in=[Run.State.RUNNING, Run.State.SCORING])
    return driven.update(driven_until=Now() + RUN_LEASE, started_at=_kept_or_now()) == 1


def release_run(run_id: int) -> None:
    """Let the sweeper wake the run again at once, if it was resumed while its driver ended."""
    Run.objects.filter(pk=run_id, state__in=[Run.State.RUNNING, Run.State.SCORING]).update(driven_until=None)


def _kept_or_now() -> Case:
    return Case(When(started_at=None, then=Now()), default=F("started_at"))


def finish(run_id: int) -> bool:
    """Move a run without unfinished items on to DONE; return whether a driver has nothing more to do for it."""
    with transaction.atomic():
        run = Run.objects.lock(run_id)
        if run.state == Run.State.RUNNING:
            if RunItem.objects.filter(entrant__run=run_id, state__in=RunItem.TO_ASK).exists():
                return False
            run.state = Run.State.SCORING
            run.save(update_fields=["state"])
    if RunItem.objects.filter(run=run_id, state=RunItem.State.ANSWERED).exists():
        return False
    if run.state in (Run.State.SCORING, Run.State.CANCELLED):
        _report(run)
    return True


def _report(run: Run) -> None:
    """Store the report of a run without unfinished items; a run that was scored is then done."""
    report = compute_report(run)
    with transaction.atomic():
        if Run.objects.lock(run.pk).state != run.state:
            return
        store_report(run, report)
        if run.state == Run.State.SCORING:
            done = {"state": Run.State.DONE, "finished_at": Now(), "driven_until": None}
            Run.objects.filter(pk=run.pk).update(**done)


@transaction.atomic
def pause(run_id: int, reason: str, paced_from: datetime | None) -> bool:
    """Pause a running run by itself; a day's or month's budget lets it go on after its end.

    paced_from: as in the plan that has the reason. A run that was resumed since then goes on.
    """
    run = Run.objects.lock(run_id)
    if run.state != Run.State.RUNNING or run.paced_from != paced_from:
        return False
    paused = {"state": Run.State.PAUSED, "reason": reason, "day_wait_until": _end_of(reason), "driven_until": None}
    Run.objects.filter(pk=run_id).update(**paused)
    logger.warning("run %s is paused: %s", run_id, reason)
    return True


def _end_of(reason: str) -> datetime | None:
    """Return when a budget begins anew; None for other reasons."""
    if reason in (Run.Reason.DAY_BUDGET, Run.Reason.TEAM_DAY):
        return end_of_today()
    if reason in Run.OF_TEAM:
        return end_of_this_month()
    return None


@transaction.atomic
def release_items(run_id: int, claimed: Sequence[ClaimedItem]) -> None:
    """Requeue claimed items of an ending worker at once; no attempt is used up."""
    run = Run.objects.lock(run_id)
    fences = {item.item_id: item.fence for item in claimed}
    held = _answering(fences)
    _requeue(run, held, attempt=Greatest(F("attempt") - 1, 0))
    calls = [item.call.row.pk for item in claimed if item.item_id in held]
    _close_lost(run, calls)
    Run.objects.filter(pk=run_id).update(driven_until=None)


def _answering(fences: dict[int, int]) -> set[int]:
    answering = RunItem.objects.filter(pk__in=fences, state=RunItem.State.ANSWERING).order_by("pk")
    return {pk for pk, fence in answering.values_list("pk", "fence") if fences[pk] == fence}


@transaction.atomic
def requeue_expired(run_id: int) -> int:
    """Requeue items whose lease expired, or fail those without attempts left; return their number."""
    run = Run.objects.lock(run_id)
    expired = RunItem.objects.filter(run=run_id, state=RunItem.State.ANSWERING, lease_until__lt=Now())
    lost = dict(expired.order_by("pk").values_list("pk", "attempt"))
    if not lost:
        return 0
    calls = ItemCall.objects.filter(item__in=lost, fence=F("item__fence"))
    _close_lost(run, list(calls.values_list("call_id", flat=True)))
    still_in = set(RunItem.objects.filter(pk__in=lost, entrant__left_out_at=None).values_list("pk", flat=True))
    final = {pk for pk, attempt in lost.items() if attempt >= run.attempts and pk in still_in}
    _requeue(run, lost.keys() - final)
    failed = {"state": RunItem.State.FAILED, "error": FailureCode.INTERRUPTED, "lease_until": None}
    RunItem.objects.filter(pk__in=final).update(**failed, finished_at=Now())
    return len(lost)


def _requeue(run: Run, items: Collection[int], **changes: object) -> None:
    """Requeue items; those of a cancelled run are skipped, those of entrants that are left out end."""
    left_out = Q(entrant__in=Entrant.objects.filter(run=run, left_out_at__isnull=False))
    otherwise = RunItem.State.SKIPPED if run.state == Run.State.CANCELLED else RunItem.State.QUEUED
    RunItem.objects.filter(pk__in=items).update(
        state=Case(When(left_out, then=Value(RunItem.State.LEFT_OUT)), default=Value(otherwise)),
        finished_at=Case(When(left_out, then=Now()), default=F("finished_at")),
        lease_until=None, due_at=Now(), **changes,
    )  # fmt: skip


def _close_lost(run: Run, calls: Collection[int]) -> None:
    """Mark calls LOST at the cost of their whole reservations."""
    open_calls = Call.objects.unfinished().filter(pk__in=calls, charge__isnull=False)
    reserved = sum(open_calls.values_list("charge__most", flat=True), Decimal(0))
    spent = mark_calls_lost(calls)
    if reserved:
        Run.objects.filter(pk=run.pk).update(reserved=F("reserved") - reserved, spent=F("spent") + spent)


def expired_items() -> QuerySet[RunItem]:
    return RunItem.objects.filter(state=RunItem.State.ANSWERING, lease_until__lt=Now())


def waiting_until_today() -> QuerySet[Run]:
    """Return runs that waited for a new day's budget."""
    return Run.objects.filter(state=Run.State.PAUSED, day_wait_until__lte=Now())


def resume_after_midnight() -> None:
    for run_id in waiting_until_today().order_by("pk").values_list("pk", flat=True):
        resumed = {"state": Run.State.RUNNING, "reason": "", "day_wait_until": None, "driven_until": None}
        with transaction.atomic():
            if waiting_until_today().filter(pk=run_id).update(**resumed):
                let_go_on(run_id)
