"""Finds turns that nobody works on, probes that are due, and sessions to be deleted.

Needs PostgreSQL only; the broker may be away.
"""

import logging
from datetime import timedelta

from battles.actions import delete_discarded
from battles.models import Turn
from battles.streaming.control import announce_end, announce_lost_ends, empty_finished_streams
from battles.tasks import wake, wake_probe
from battles.worker import call_store
from battles.worker import turn_store as records
from models_registry.models import Breaker

logger = logging.getLogger(__name__)

# A turn is woken again after this long in the queue: its message may be lost, or the workers are busy.
PATIENCE = timedelta(seconds=4)
MOST_AT_ONCE = 500


def sweep() -> None:
    """One round: abandoned turns go back into the queue or, out of attempts, end; queued ones are woken again.

    Readers whose stream lost its end (the worker died just then, or Valkey and its last second) are told it; the
    streams of finished turns are emptied. Models that a breaker keeps out of the draw are probed when their cooldown
    is over. Sessions that were thrown away are deleted when nobody may want them back any more.
    """
    for turn in Turn.objects.abandoned().order_by("pk")[:MOST_AT_ONCE]:
        if turn.attempt < records.MOST_ATTEMPTS:
            if records.requeue_abandoned(turn.pk):
                logger.warning("turn %s lost its worker; it is queued again", turn.pk)
        elif closed := records.give_up(turn.pk):
            logger.warning("turn %s lost its worker for the last time", turn.pk)
            announce_end(closed)
    waiting = Turn.objects.waiting_longer_than(PATIENCE).order_by("queued_at")
    for pk in list(waiting.values_list("pk", flat=True)[:MOST_AT_ONCE]):
        if Turn.objects.wake_again(pk, PATIENCE) and not wake(pk):
            records.make_due(pk)
            break  # the broker is away; the next round tries again
    announce_lost_ends(Turn.objects.lately_finished().select_related("battle"))
    empty_finished_streams(at_most=MOST_AT_ONCE)
    _probe_what_is_due()
    delete_discarded(at_most=MOST_AT_ONCE)


def _probe_what_is_due() -> None:
    call_store.lose_abandoned_probes()
    for pk in Breaker.objects.due().values_list("pk", flat=True)[:MOST_AT_ONCE]:
        wake_probe(pk)
