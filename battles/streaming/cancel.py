"""How a stop travels: written in the turn's row, and shouted to the workers."""

import logging

from battles.models import Turn
from common.valkey.connections import UNREACHABLE, connection, while_a_person_waits

logger = logging.getLogger(__name__)

CHANNEL = "turns-to-stop"


def shout_stop(turn: Turn) -> None:
    """Best effort: the worker that holds the turn also reads the row when it renews its lease."""
    try:
        with while_a_person_waits():
            connection().publish(CHANNEL, str(turn.pk))
    except UNREACHABLE as error:
        logger.warning("the stop of turn %s will be found with its lease (%s)", turn.pk, error)
