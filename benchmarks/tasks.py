"""Celery tasks: a message carries an id and may arrive twice or never."""

import logging
from functools import partial

from celery import Task, shared_task
from django.db import transaction
from kombu.exceptions import OperationalError

from benchmarks import streaming
from benchmarks.models import Run
from common.valkey.connections import UNREACHABLE, fail_fast

logger = logging.getLogger(__name__)


@shared_task(ignore_result=True)
def prepare_run(run_id: int) -> None:
    from benchmarks.preparation.run_preparation import prepare

    if prepare(run_id):
        wake(run_id, Run.State.RUNNING)
    else:  # failed, or ready to be started
        streaming.publish(run_id)


@shared_task(ignore_result=True)
def drive_run(run_id: int) -> None:
    from battles.worker.runner import get_engine  # imports the SDK, which only answer workers need
    from benchmarks.worker.runner import drive

    get_engine().run(partial(drive, run_id), f"run {run_id}")


@shared_task(ignore_result=True)
def judge_battles() -> None:
    from battles.worker.runner import get_engine
    from benchmarks.live_judging import asking

    get_engine().run(asking.judge_battles, "judge of voted battles")


def wake_live_judge() -> None:
    try:
        with fail_fast():
            judge_battles.apply_async(expires=10)
    except (OperationalError, *UNREACHABLE) as error:
        logger.warning("the judge of voted battles was not sent to a worker: %s", error)


def wake(run_id: int, state: str) -> bool:
    """Queue the next step of a run; False if the broker is unreachable, then the sweeper wakes the run."""
    task: Task[[int], None] = prepare_run if state == Run.State.PREPARING else drive_run
    try:
        with fail_fast():
            task.apply_async((run_id,), expires=10)
    except (OperationalError, *UNREACHABLE) as error:
        logger.warning("run %s was not sent to a worker: %s", run_id, error)
        return False
    return True


def wake_after_commit(run: Run) -> None:
    transaction.on_commit(lambda: wake(run.pk, run.state))
