"""Wake-up calls: a task carries an id and may arrive twice, or never."""

import logging

from celery import shared_task
from django.db import transaction
from kombu.exceptions import OperationalError

from common.valkey.connections import UNREACHABLE, while_a_person_waits

logger = logging.getLogger(__name__)


@shared_task(ignore_result=True)
def answer_turn(turn_id: int) -> None:
    from battles.worker.runner import engine  # only answer workers need the providers' libraries

    engine().answer(turn_id)


@shared_task(ignore_result=True)
def probe_model(breaker_id: int) -> None:
    from battles.worker.runner import engine

    engine().probe(breaker_id)


@shared_task(ignore_result=True)
def test_model(test_id: str) -> None:
    from battles.worker.runner import engine

    engine().test_model(test_id)


def wake(turn_id: int) -> bool:
    """Send the turn to a worker; False where the broker is away, which is logged: the sweeper will find the turn."""
    try:
        with while_a_person_waits():
            answer_turn.delay(turn_id)
    except (OperationalError, *UNREACHABLE) as error:
        logger.warning("nobody was woken for turn %s: %s", turn_id, error)
        return False
    return True


def wake_probe(breaker_id: int) -> None:
    """Tell a worker that a probe is due; said again in the next round, so a message that waits longer is void."""
    try:
        with while_a_person_waits():
            probe_model.apply_async((breaker_id,), expires=10)
    except (OperationalError, *UNREACHABLE) as error:
        logger.warning("nobody was woken for the probe of breaker %s: %s", breaker_id, error)


def wake_model_test(test_id: str) -> None:
    """Tell a worker. Raises one of OperationalError and UNREACHABLE: an administrator waits for just this."""
    with while_a_person_waits():
        test_model.apply_async((test_id,), expires=60)


def wake_after_commit(turn_id: int) -> None:
    transaction.on_commit(lambda: wake(turn_id))
