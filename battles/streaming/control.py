"""What those who follow a turn's stream are told when no worker tells them: its end, and that nothing was said."""

import logging
from collections.abc import Iterable
from datetime import datetime, timedelta

import msgspec
from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from battles.models import Turn
from battles.streaming.protocol import FIELD, LIFETIME_S, TurnEvent, entry, stream_key
from common.valkey.connections import UNREACHABLE, connection, while_a_person_waits

logger = logging.getLogger(__name__)

# How long the words of a finished turn can still be read from its stream; then its end is all that is left.
READABLE_S = 60
EMPTIED_UNTIL = "streams:emptied-until"

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


def forget_streams(turns: QuerySet[Turn]) -> None:
    """With COMMIT: nothing of these turns is told to anybody again, also not by a worker that still has words.

    An end is all that is left of the stream, and nobody reads on after it. Best effort: what is not forgotten is
    within the hour.
    """
    lately = Q(finished_at=None) | Q(finished_at__gte=Now() - timedelta(seconds=LIFETIME_S))
    keys = _keys_of(turns.filter(lately).select_related("battle"))
    if keys:
        transaction.on_commit(lambda: _leave_nothing_but_an_end(keys))


def _leave_nothing_but_an_end(keys: list[str]) -> None:
    try:
        with while_a_person_waits(), connection().pipeline(transaction=True) as pipeline:
            for key in keys:
                # Of a stream made anew the end could have an id that readers have passed: that of the same millisecond.
                pipeline.xadd(key, entry([TurnEvent("end")]), maxlen=1, approximate=False)
                pipeline.expire(key, LIFETIME_S)
            pipeline.execute()
    except UNREACHABLE as error:
        logger.warning("%d streams are not forgotten before their hour is over (%s)", len(keys), error)


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


def empty_finished_streams(*, at_most: int) -> None:
    """Truncate the streams of turns that finished READABLE_S ago to a single `end` event.

    Valkey remembers up to which time that was done, so that each stream is written to once. Best effort, too: what is
    missed expires within the hour.
    """
    now = timezone.now()
    try:
        with while_a_person_waits():
            done_until = connection().get(EMPTIED_UNTIL)
            since = now - timedelta(seconds=LIFETIME_S)
            if done_until:
                since = max(since, datetime.fromisoformat(str(done_until)))
            finished = Turn.objects.filter(finished_at__gt=since, finished_at__lt=now - timedelta(seconds=READABLE_S))
            turns = list(finished.select_related("battle").order_by("finished_at")[:at_most])
            if turns:
                _truncate(_keys_of(turns))
                connection().set(EMPTIED_UNTIL, str(turns[-1].finished_at), ex=LIFETIME_S)
    except UNREACHABLE as error:
        logger.warning("finished streams were not emptied (%s)", error)


def _truncate(keys: list[str]) -> None:
    with connection().pipeline(transaction=False) as pipeline:
        for key in keys:
            pipeline.xadd(key, entry([TurnEvent("end")]), maxlen=1, approximate=False, nomkstream=True)
        pipeline.execute()


def _keys_of(turns: Iterable[Turn]) -> list[str]:
    """The streams of every round of these turns."""
    return [stream_key(turn.battle.public_id, turn.index, round) for turn in turns for round in range(turn.round + 1)]


def _says_end(events: str) -> bool:
    return any(event.name == "end" for event in _decoder.decode(events))


def _key(turn: Turn) -> str:
    return stream_key(turn.battle.public_id, turn.index, turn.round)
