"""The end of a turn that no worker holds, told to those who follow its stream."""

import logging
from collections.abc import Iterable

import msgspec

from battles.models import Turn
from battles.turn_stream import FIELD, LIFETIME_S, TurnEvent, entry, stream_key
from common.valkey import UNREACHABLE, connection, while_a_person_waits

logger = logging.getLogger(__name__)

_decoder = msgspec.json.Decoder(list[TurnEvent])


def announce_end(turn: Turn) -> None:
    """Best effort: the turn is stored, and whoever asks for the battle sees it."""
    try:
        with while_a_person_waits(), connection().pipeline(transaction=False) as pipeline:
            pipeline.xadd(_key(turn), entry([TurnEvent("end")]))
            pipeline.expire(_key(turn), LIFETIME_S)
            pipeline.execute()
    except UNREACHABLE as error:
        logger.warning("the end of turn %s was not announced (%s)", turn.pk, error)


def announce_lost_ends(turns: Iterable[Turn]) -> None:
    """Those of the finished turns whose stream goes on without an end; of a stream that is gone readers know it.

    Best effort, too.
    """
    finished = list(turns)
    if not finished:
        return
    try:
        with while_a_person_waits(), connection().pipeline(transaction=False) as pipeline:
            for turn in finished:
                pipeline.xrevrange(_key(turn), count=1)
            last_entries = pipeline.execute()
    except UNREACHABLE as error:
        logger.warning("nobody looked for ends that were lost (%s)", error)
        return
    for turn, entries in zip(finished, last_entries, strict=True):
        if entries and not _says_end(entries[0][1][FIELD.decode()]):
            logger.warning("the end of turn %s was lost; it is announced again", turn.pk)
            announce_end(turn)


def _says_end(events: str) -> bool:
    return any(event.name == "end" for event in _decoder.decode(events))


def _key(turn: Turn) -> str:
    return stream_key(turn.battle.public_id, turn.index, turn.round)
