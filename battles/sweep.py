"""Finds turns that nobody works on. Needs PostgreSQL only; the broker may be away."""

import logging
from datetime import timedelta

from battles import answer_records as records
from battles.announcing import announce_end
from battles.models import Turn
from battles.tasks import wake

logger = logging.getLogger(__name__)

# A turn is woken again after this long in the queue: its message may be lost, or the workers are busy.
PATIENCE = timedelta(seconds=6)
MOST_AT_ONCE = 500


def sweep() -> None:
    """One round: abandoned turns go back into the queue or, out of attempts, end; queued ones are woken again."""
    for turn in Turn.objects.abandoned().order_by("pk")[:MOST_AT_ONCE]:
        if turn.attempt < records.MOST_ATTEMPTS:
            if records.requeue_abandoned(turn.pk):
                logger.warning("turn %s lost its worker; it is queued again", turn.pk)
        elif closed := records.give_up(turn.pk):
            logger.warning("turn %s lost its worker for the last time", turn.pk)
            announce_end(closed)
    waiting = Turn.objects.waiting_longer_than(PATIENCE).order_by("queued_at")
    for pk in list(waiting.values_list("pk", flat=True)[:MOST_AT_ONCE]):
        if Turn.objects.wake_again(pk, PATIENCE):
            wake(pk)
