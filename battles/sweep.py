"""Recover abandoned turns, wake probes, delete discarded sessions. Works without Valkey and broker."""

import logging
from datetime import timedelta
from functools import partial

from battles.actions import delete_discarded
from battles.calls import store
from battles.models import Call, Session, Turn
from battles.models.turns import TurnQuerySet
from battles.streaming.control import (
    possibly_untruncated,
    publish_end,
    repair_missing_ends,
    truncate_finished_streams,
)
from battles.tasks import wake, wake_probe, wake_repair_check
from battles.worker import turn_store
from common.sweeping import Step, Sweep
from models_registry.models import Breaker, Inquiry, RequestRepair
from models_registry.models.inquiries import inquiries_exist

logger = logging.getLogger(__name__)

# A turn is woken again after this long in the queue: its message may be lost, or the workers are busy.
WAKE_AGAIN_AFTER = timedelta(seconds=4)
MAX_PER_ROUND = 500


def _recover_abandoned() -> None:
    for turn in Turn.objects.abandoned().order_by("pk")[:MAX_PER_ROUND]:
        if turn.attempt < turn_store.MAX_ATTEMPTS:
            if turn_store.requeue_expired(turn.pk):
                logger.warning("the lease of turn %s expired; it is requeued", turn.pk)
        elif failed := turn_store.fail_expired(turn.pk):
            logger.warning("the lease of turn %s expired in its last attempt", turn.pk)
            publish_end(failed)


def _queued() -> TurnQuerySet:
    return Turn.objects.queued_longer_than(WAKE_AGAIN_AFTER)


def _wake_queued() -> None:
    for pk in list(_queued().order_by("queued_at").values_list("pk", flat=True)[:MAX_PER_ROUND]):
        if Turn.objects.mark_woken(pk, WAKE_AGAIN_AFTER) and not wake(pk):
            turn_store.make_due(pk)
            break  # the broker is unreachable


def _repair_ends() -> None:
    repair_missing_ends(Turn.objects.recently_finished().select_related("battle"))


def _wake_due_probes() -> None:
    for pk in Breaker.objects.due().values_list("pk", flat=True)[:MAX_PER_ROUND]:
        wake_probe(pk)


def wake_due_questions() -> None:
    if inquiries_exist():
        for pk in Inquiry.objects.due().values_list("pk", flat=True)[:MAX_PER_ROUND]:
            wake_probe(pk)
        for pk in RequestRepair.objects.due().values_list("pk", flat=True)[:MAX_PER_ROUND]:
            wake_repair_check(pk)


sweep = Sweep(
    Step(Turn.objects.abandoned, _recover_abandoned),
    Step(_queued, _wake_queued),
    Step(Turn.objects.recently_finished, _repair_ends),
    Step(Call.objects.abandoned, store.mark_abandoned_lost),
    Step(Breaker.objects.due, _wake_due_probes),
    Step(Session.objects.due_for_deletion, partial(delete_discarded, limit=MAX_PER_ROUND)),
    Step(possibly_untruncated, partial(truncate_finished_streams, at_most=MAX_PER_ROUND)),
)
