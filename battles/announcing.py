"""The end of a turn that no worker holds, told to those who follow its stream."""

import logging

from battles.models import Turn
from battles.turn_stream import LIFETIME_S, TurnEvent, entry, stream_key
from common.valkey import UNREACHABLE, connection, while_a_person_waits

logger = logging.getLogger(__name__)


def announce_end(turn: Turn) -> None:
    """Best effort: the turn is stored, and whoever asks for the battle sees it."""
    key = stream_key(turn.battle.public_id, turn.index, turn.round)
    try:
        with while_a_person_waits(), connection().pipeline(transaction=False) as pipeline:
            pipeline.xadd(key, entry([TurnEvent("end")]))
            pipeline.expire(key, LIFETIME_S)
            pipeline.execute()
    except UNREACHABLE as error:
        logger.warning("the end of turn %s was not announced (%s)", turn.pk, error)
