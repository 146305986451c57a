"""Running counts of battles and votes: each reading counts only the rows since the last one."""

import logging
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

import msgspec
from django.db.models import Count, F, Q, Value
from django.db.models.functions import TruncHour

from battles.models import Battle, Vote
from common.db.reading import reads_primary
from common.valkey.connections import UNREACHABLE, connection, fail_fast
from leaderboard.counting.schedule import database_now

HOURS = 24
# A row may be committed after younger ones: the last minute is counted again.
SETTLED_AFTER = timedelta(minutes=1)
_KEY = "activity"

logger = logging.getLogger(__name__)

Key = tuple[str, datetime, str]  # of a count: begun, cast or voted; an hour; a battle's mode
_decoder = msgspec.json.Decoder(tuple[datetime, list[tuple[Key, int]]])


@dataclass(frozen=True)
class ModeToday:
    """Battles of one mode since midnight UTC."""

    mode: str
    begun: int
    voted: int
    void: int

    @property
    def label(self) -> str:
        return str(Battle.Mode(self.mode).label)

    @property
    def open(self) -> int:
        """Battles neither voted on nor void."""
        return self.begun - self.voted - self.void


@dataclass(frozen=True)
class Activity:
    """The last HOURS hours; of the first of them, the whole hour."""

    hours: list[datetime]
    counts: Counter[Key]

    def votes_by_hour(self) -> list[int]:
        """Return the votes of each hour, the current one last."""
        return [self.counts["cast", hour, ""] for hour in self.hours]

    def battles_today(self) -> list[ModeToday]:
        """Return one row per mode, also without battles. One query."""
        midnight = _midnight(self.hours[-1])
        today = [hour for hour in self.hours if hour >= midnight]
        of_today = Battle.objects.filter(created_at__gte=midnight, voided_at__isnull=False).order_by()
        void = dict(of_today.values_list("mode").annotate(n=Count("pk")))
        return [
            ModeToday(
                mode,
                begun=sum(self.counts["begun", hour, mode] for hour in today),
                voted=sum(self.counts["voted", hour, mode] for hour in today),
                void=void.get(mode, 0),
            )
            for mode in Battle.Mode.values
        ]


def _midnight(moment: datetime) -> datetime:
    return datetime.combine(moment, time(), UTC)


@reads_primary  # rows that a replica lacks would never be counted
def read_activity() -> Activity:
    """Read in four queries. Without Valkey they read a day's rows."""
    now = database_now().astimezone(UTC)
    hour = now.replace(minute=0, second=0, microsecond=0)
    hours = [hour - timedelta(hours=ago) for ago in reversed(range(HOURS))]
    until, counts = _load() or (hours[0], Counter())
    counts = Counter({key: n for key, n in counts.items() if key[1] >= hours[0]})
    since = max(until, hours[0])
    settled = max(since, now - SETTLED_AFTER)
    all_new, settled_new = _count(since, settled, _midnight(hour))
    if settled_new or until < hours[-1]:
        _store(settled, counts + settled_new)
    return Activity(hours, counts + all_new)


def _count(since: datetime, settled: datetime, midnight: datetime) -> tuple[Counter[Key], Counter[Key]]:
    """Return the counts of rows after `since`, and of those before `settled` among them."""
    battles = Battle.objects.filter(created_at__gte=since).annotate(group=F("mode"))
    votes = Vote.objects.filter(created_at__gte=since).annotate(group=Value(""))
    # Votes count in their own hour, which may be a later one than the battle's.
    on_todays_battles = (
        Vote.objects.filter(created_at__gte=max(since, midnight), battle__created_at__gte=midnight)
        .filter(battle__voided_at=None)
        .annotate(group=F("battle__mode"))
    )
    all_new, settled_new = Counter[Key](), Counter[Key]()
    for name, rows in (("begun", battles), ("cast", votes), ("voted", on_todays_battles)):
        groups = rows.order_by().annotate(hour=TruncHour("created_at", tzinfo=UTC)).values_list("hour", "group")
        is_settled = Q(created_at__lt=settled)
        for hour, group, n, before in groups.annotate(n=Count("pk"), before=Count("pk", filter=is_settled)):
            all_new[name, hour, group], settled_new[name, hour, group] = n, before
    return all_new, +settled_new


def forget_activity() -> None:
    """Best effort: have a restored day's rows counted."""
    try:
        with fail_fast():
            connection().delete(_KEY)
    except UNREACHABLE as error:
        logger.warning("counts of battles and votes are kept for a day (%s)", error)


def _load() -> tuple[datetime, Counter[Key]] | None:
    try:
        with fail_fast():
            stored = connection().get(_KEY)
    except UNREACHABLE:
        return None
    if not isinstance(stored, str):
        return None
    until, counts = _decoder.decode(stored)
    return until, Counter(dict(counts))


def _store(until: datetime, counts: Counter[Key]) -> None:
    try:
        with fail_fast():
            stored = msgspec.json.encode((until, list(counts.items())))
            connection().set(_KEY, stored, ex=timedelta(hours=HOURS))
    except UNREACHABLE as error:
        logger.warning("counts of battles and votes were not stored (%s)", error)
