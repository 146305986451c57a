"""Recover items of lost workers and wake runs. Works without Valkey and broker."""

import logging

from benchmarks.live_judging.asking import requeue_abandoned, settle_orphaned
from benchmarks.live_judging.drawing import draw_votes, with_votes_to_draw
from benchmarks.models import LiveCall, LiveJudgement, Run
from benchmarks.tasks import wake, wake_live_judge
from benchmarks.worker import progress
from common.sweeping import Step, Sweep

logger = logging.getLogger(__name__)


def _requeue_expired() -> None:
    for run_id in progress.expired_items().values_list("run_id", flat=True).order_by().distinct():
        if number := progress.requeue_expired(run_id):
            logger.warning("the leases of %s items of run %s expired", number, run_id)


def _wake_runs_without_worker() -> None:
    for run_id, state in Run.objects.without_worker().order_by("pk").values_list("pk", "state"):
        if not wake(run_id, state):
            break  # the broker is unreachable


sweep = Sweep(
    Step(progress.expired_items, _requeue_expired),
    Step(progress.waiting_until_today, progress.resume_after_midnight),
    Step(Run.objects.without_worker, _wake_runs_without_worker),
    Step(with_votes_to_draw, draw_votes),
    Step(LiveJudgement.objects.abandoned, requeue_abandoned),
    Step(LiveCall.objects.orphaned, settle_orphaned),
    Step(LiveJudgement.objects.due, wake_live_judge),
)
