"""End and truncate turn streams without a worker. Best effort: streams expire after an hour."""

import logging
from collections.abc import Iterable
from datetime import datetime, timedelta

import msgspec
from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from battles.models import Turn
from battles.streaming.protocol import FIELD, STREAM_TTL_S, TurnEvent, entry, stream_key
from common.valkey.connections import UNREACHABLE, connection, fail_fast

logger = logging.getLogger(__name__)

# The text of a finished turn stays readable in its stream this long; then only its end is left.
READABLE_S = 60
TRUNCATED_UNTIL = "streams:emptied-until"

_decoder = msgspec.json.Decoder(list[TurnEvent])


def publish_end(turn: Turn) -> None:
    try:
        with fail_fast(), connection().pipeline(transaction=False) as pipeline:
            pipeline.xadd(_key(turn), entry([TurnEvent("end")]))
            pipeline.expire(_key(turn), STREAM_TTL_S)
            pipeline.execute()
    except UNREACHABLE as error:
        logger.warning("the end of turn %s was not published (%s)", turn.pk, error)


def truncate_streams(turns: QuerySet[Turn]) -> None:
    """Truncate these streams to a single `end` event on commit."""
    recent = Q(finished_at=None) | Q(finished_at__gte=Now() - timedelta(seconds=STREAM_TTL_S))
    keys = _keys(turns.filter(recent).select_related("battle"))
    if keys:
        transaction.on_commit(lambda: _truncate_or_log(keys))


def _truncate_or_log(keys: list[str]) -> None:
    try:
        with fail_fast():
            _truncate(keys, create=True)
    except UNREACHABLE as error:
        logger.warning("%d streams are not truncated before they expire (%s)", len(keys), error)


def _truncate(keys: list[str], *, create: bool) -> None:
    """Replace all entries by an `end`; with `create` also in missing streams.

    A deleted and recreated stream could begin with an id that readers have passed in this millisecond.
    """
    with connection().pipeline(transaction=create) as pipeline:
        for key in keys:
            pipeline.xadd(key, entry([TurnEvent("end")]), maxlen=1, approximate=False, nomkstream=not create)
            if create:
                pipeline.expire(key, STREAM_TTL_S)
        pipeline.execute()


def repair_missing_ends(turns: Iterable[Turn]) -> None:
    """Publish the end of finished turns whose stream lacks it."""
    finished = list(turns)
    if not finished:
        return
    try:
        with fail_fast(), connection().pipeline(transaction=False) as pipeline:
            for turn in finished:
                pipeline.xrevrange(_key(turn), count=1)
            last_entries = pipeline.execute()
    except UNREACHABLE as error:
        logger.warning("streams without an end were not looked for (%s)", error)
        return
    for turn, entries in zip(finished, last_entries, strict=True):
        if entries and not _has_end(entries[0][1][FIELD.decode()]):
            logger.warning("the end of turn %s was lost; it is published again", turn.pk)
            publish_end(turn)


def possibly_untruncated() -> QuerySet[Turn]:
    """Return one of the turns with a stream whose text is no longer needed, truncated or not."""
    now = Now()
    oldest, newest = now - timedelta(seconds=STREAM_TTL_S), now - timedelta(seconds=READABLE_S)
    return Turn.objects.filter(finished_at__range=(oldest, newest)).order_by("finished_at")[:1]


def truncate_finished_streams(*, at_most: int) -> None:
    """Truncate the streams of turns that finished READABLE_S ago, each once: Valkey stores the progress."""
    now = timezone.now()
    try:
        with fail_fast():
            done_until = connection().get(TRUNCATED_UNTIL)
            since = now - timedelta(seconds=STREAM_TTL_S)
            if done_until:
                since = max(since, datetime.fromisoformat(str(done_until)))
            finished = Turn.objects.filter(finished_at__gt=since, finished_at__lt=now - timedelta(seconds=READABLE_S))
            turns = list(finished.select_related("battle").order_by("finished_at")[:at_most])
            if turns:
                _truncate(_keys(turns), create=False)
                connection().set(TRUNCATED_UNTIL, str(turns[-1].finished_at), ex=STREAM_TTL_S)
    except UNREACHABLE as error:
        logger.warning("finished streams were not truncated (%s)", error)


def _keys(turns: Iterable[Turn]) -> list[str]:
    """Return the keys of all streams: two for a regenerated turn."""
    return [
        stream_key(turn.battle.public_id, turn.index, regenerated)
        for turn in turns
        for regenerated in ((False, True) if turn.regenerated else (False,))
    ]


def _has_end(events: str) -> bool:
    return any(event.name == "end" for event in _decoder.decode(events))


def _key(turn: Turn) -> str:
    return stream_key(turn.battle.public_id, turn.index, turn.regenerated)
