"""Recover abandoned turns, wake probes, delete discarded sessions. Works without Valkey and broker."""

import logging
from datetime import timedelta

from battles.actions import delete_discarded
from battles.models import Turn
from battles.streaming.control import publish_end, repair_missing_ends, truncate_finished_streams
from battles.tasks import wake, wake_probe
from battles.worker import call_store, turn_store
from models_registry.models import Breaker

logger = logging.getLogger(__name__)

# After this long in the queue a turn is woken again: its message may be lost, or the workers are busy.
WAKE_AGAIN_AFTER = timedelta(seconds=4)
MAX_PER_ROUND = 500


def sweep() -> None:
    """Do one round."""
    for turn in Turn.objects.abandoned().order_by("pk")[:MAX_PER_ROUND]:
        if turn.attempt < turn_store.MAX_ATTEMPTS:
            if turn_store.requeue_expired(turn.pk):
                logger.warning("the lease of turn %s expired; it is requeued", turn.pk)
        elif failed := turn_store.fail_expired(turn.pk):
            logger.warning("the lease of turn %s expired in its last attempt", turn.pk)
            publish_end(failed)
    queued = Turn.objects.queued_longer_than(WAKE_AGAIN_AFTER).order_by("queued_at")
    for pk in list(queued.values_list("pk", flat=True)[:MAX_PER_ROUND]):
        if Turn.objects.mark_woken(pk, WAKE_AGAIN_AFTER) and not wake(pk):
            turn_store.make_due(pk)
            break  # the broker is unreachable
    repair_missing_ends(Turn.objects.recently_finished().select_related("battle"))
    truncate_finished_streams(at_most=MAX_PER_ROUND)
    _wake_due_probes()
    delete_discarded(limit=MAX_PER_ROUND)


def _wake_due_probes() -> None:
    call_store.mark_abandoned_lost()
    for pk in Breaker.objects.due().values_list("pk", flat=True)[:MAX_PER_ROUND]:
        wake_probe(pk)
