"""Figures of today every ten minutes, and of earlier days every night."""

from datetime import date, timedelta

from django.db import connection

from metrics.models import MetricDay
from metrics.rollup.families import ALL, DAILY, MARK, OF_ROWS_THAT_STAY, Reveal, start_of
from metrics.rollup.writing import roll_up
from models_registry.models.ledger import today

_DAY = timedelta(days=1)
_MOMENT = timedelta(microseconds=1)
# People come back within this time, and most late votes are cast in it.
SETTLES_AFTER = 8 * _DAY


def roll_up_today() -> None:
    """Count today's figures, and until an hour has passed since midnight the last ones of yesterday."""
    reveal = Reveal.now()
    for day in sorted({(reveal.until - _MOMENT).date(), today()}):
        for family in DAILY:
            roll_up(family, day, reveal)


def roll_up_night() -> None:
    """Count the days that are missing or may have changed, oldest first."""
    reveal = Reveal.now()
    missing, changed = days_to_count()
    lately = today() - SETTLES_AFTER
    done = set()
    for day in sorted(missing | changed):
        for family in ALL if day in missing or day >= lately else OF_ROWS_THAT_STAY:
            period = family.name, family.window(day)
            if period not in done:  # several days are of one week
                done.add(period)
                roll_up(family, day, reveal)


def days_to_count() -> tuple[set[date], set[date]]:
    """Return days before today that no night has counted, and those on whose rows something happened lately."""
    first = first_day()
    if first is None:
        return set(), set()
    marks = MetricDay.objects.filter(metric=MARK, dim="", key="", team=None, span=MetricDay.Span.DAY)
    known = set(marks.values_list("day", flat=True))
    end = today()
    days = [first + n * _DAY for n in range((end - first).days)]
    missing = {day for day in days if day not in known}
    lately = {day for day in days if day >= end - SETTLES_AFTER}
    since = min(missing | {end - _DAY}) - _DAY
    return missing, (lately | _touched(since)) - missing - {end}


def first_day() -> date | None:
    """Return the day of the first battle, or of the first money spent if it is earlier."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT least((SELECT (min(created_at) AT TIME ZONE 'UTC')::date FROM battles_battle),"
            " (SELECT min(day) FROM models_registry_spendingday))"
        )
        day: date | None = cursor.fetchone()[0]
        return day


_TOUCHED = """
SELECT DISTINCT (touched.at AT TIME ZONE 'UTC')::date FROM (
    SELECT battle.id, vote.created_at AS at FROM leaderboard_votechange AS change
    JOIN battles_vote AS vote ON vote.id = change.vote_id
    JOIN battles_battle AS battle ON battle.id = vote.battle_id
    WHERE change.at >= %(since)s
    UNION ALL SELECT vote.battle_id, NULL FROM battles_vote AS vote
    WHERE vote.created_at >= %(since)s OR vote."order" > %(last_order)s
    UNION ALL SELECT id, NULL FROM battles_battle WHERE voided_at >= least(%(since)s, %(moment)s)
    UNION ALL SELECT earlier.id, NULL FROM battles_battle AS later
    JOIN battles_battle AS earlier ON earlier.session_id = later.session_id AND earlier.created_at < later.created_at
    WHERE later.created_at >= %(since)s
    UNION ALL SELECT turn.battle_id, NULL FROM battles_turn AS turn WHERE turn.finished_at >= %(since)s
) AS source
JOIN battles_battle AS battle ON battle.id = source.id
JOIN battles_turn AS turn ON turn.battle_id = battle.id
CROSS JOIN LATERAL (VALUES (source.at), (battle.created_at), (turn.created_at)) AS touched (at)
WHERE touched.at IS NOT NULL
"""


def _touched(since: date) -> set[date]:
    """Return the days of battles, votes and calls that a later battle, vote, change of one, turn or end concerns."""
    # Earlier votes and ends that were not aggregated then are among them: they reveal who answered only now.
    reveal = Reveal.before(start_of(since))
    with connection.cursor() as cursor:
        cursor.execute(_TOUCHED, {"since": start_of(since), "last_order": reveal.last_order, "moment": reveal.moment})
        return {day for (day,) in cursor.fetchall()}
