"""Recover items of lost workers and wake runs. Works without Valkey and broker."""

import logging

from benchmarks.models import Run
from benchmarks.tasks import wake
from benchmarks.worker import progress

logger = logging.getLogger(__name__)


def sweep() -> None:
    """Do one round."""
    for run_id in progress.runs_with_expired_items():
        if number := progress.requeue_expired(run_id):
            logger.warning("the leases of %s items of run %s expired", number, run_id)
    progress.resume_after_midnight()
    for run_id, state in Run.objects.undriven().order_by("pk").values_list("pk", "state"):
        if not wake(run_id, state):
            break  # the broker is unreachable
