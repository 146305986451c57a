"""Messages to answer workers: each carries an id and may arrive twice or never."""

import logging

from celery import shared_task
from django.db import transaction
from kombu.exceptions import OperationalError

from battles.worker import turn_queue
from common.valkey.connections import UNREACHABLE, fail_fast

logger = logging.getLogger(__name__)


@shared_task(ignore_result=True)
def probe_model(breaker_id: int) -> None:
    from battles.worker.runner import get_engine  # imports the SDK, which only answer workers need

    get_engine().probe(breaker_id)


@shared_task(ignore_result=True)
def check_repair(repair_id: int) -> None:
    from battles.worker.runner import get_engine

    get_engine().check_repair(repair_id)


@shared_task(ignore_result=True)
def test_model(test_id: str) -> None:
    from battles.worker.runner import get_engine

    get_engine().test_model(test_id)


def wake(turn_id: int) -> bool:
    """Queue the turn for a worker; False if Valkey is unreachable, then the sweeper wakes the turn."""
    try:
        with fail_fast():
            turn_queue.push(turn_id)
    except UNREACHABLE as error:
        logger.warning("turn %s was not sent to a worker: %s", turn_id, error)
        return False
    return True


def wake_probe(breaker_id: int) -> None:
    """Queue a probe's task. It expires, because each sweep queues it again."""
    try:
        with fail_fast():
            probe_model.apply_async((breaker_id,), expires=10)
    except (OperationalError, *UNREACHABLE) as error:
        logger.warning("the probe of breaker %s was not sent to a worker: %s", breaker_id, error)


def wake_repair_check(repair_id: int) -> None:
    """Queue the task, which expires like that of a probe."""
    try:
        with fail_fast():
            check_repair.apply_async((repair_id,), expires=10)
    except (OperationalError, *UNREACHABLE) as error:
        logger.warning("the check of repair %s was not sent to a worker: %s", repair_id, error)


def wake_model_test(test_id: str, *, expires_s: int = 60) -> None:
    """Raises OperationalError or one of UNREACHABLE."""
    with fail_fast():
        test_model.apply_async((test_id,), expires=expires_s)


def wake_after_commit(turn_id: int) -> None:
    transaction.on_commit(lambda: wake(turn_id))
