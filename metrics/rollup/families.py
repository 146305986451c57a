"""Families of figures: the facts of each are one statement in sql/, counted anew from the site's rows."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple, Self

from django.db import connection
from django.utils import timezone

from common.sql_files import read_sql
from leaderboard.counting.revealed_calls import BEFORE_ALL
from leaderboard.models import AggregationRun
from metrics.histograms import RATIO
from metrics.models import MetricDay, sessions_stay

_DAY = timedelta(days=1)
# Every day that a night has counted has a row of it, also without a battle.
MARK = "funnel_back"
Span = MetricDay.Span


class Reveal(NamedTuple):
    """Rows that figures about answers may count: begun before `until`, and of blind battles those that had a vote, or
    were void, when votes were last aggregated before then: reading twice must not tell who answers (docs/adr/0029)."""

    until: datetime
    last_order: int
    moment: datetime

    @classmethod
    def now(cls) -> Self:
        return cls.before(timezone.now().replace(minute=0, second=0, microsecond=0) - timedelta(hours=1))

    @classmethod
    def before(cls, until: datetime) -> Self:
        # Also runs that found nothing new for the site's boards: votes in teams and of auto mode reveal, too.
        runs = AggregationRun.objects.readings().filter(started_at__lt=until)
        last_order, moment = runs.values_list("last_order", "started_at").first() or (0, BEFORE_ALL)
        return cls(until, last_order, moment)


class Key(NamedTuple):
    """Fields of a MetricDay that name it within its day."""

    metric: str
    team_id: int | None
    span: str
    dim: str
    key: str


class Figure(NamedTuple):
    n: int
    total: Decimal
    buckets: list[int]


class Window(NamedTuple):
    """Days whose rows are counted, and the day of the figures."""

    first: date
    last: date
    day: date

    @property
    def is_settled(self) -> bool:
        """Return whether the night after the last day is over, too."""
        return self.last + _DAY < timezone.now().astimezone(UTC).date()


def one_day(day: date) -> Window:
    return Window(day, day, day)


@dataclass(frozen=True)
class Family:
    """Figures that one statement counts.

    metrics: (metric, span) of its rows. window: of the figures that a day belongs to. names_people: deleted sessions
    are missing from a recount. follows, precedes: times after and before the window that its figures depend on. shifts:
    deleted sessions may raise its figures, too. forgets: its rows never change and are deleted some day. looks_back:
    is counted while sessions are kept as long as the window and what precedes it.
    """

    name: str
    metrics: frozenset[tuple[str, str]]
    window: Callable[[date], Window] = one_day
    span: Span = Span.DAY
    names_people: bool = False
    follows: timedelta = timedelta(0)
    precedes: timedelta = timedelta(0)
    shifts: bool = False
    forgets: bool = False
    looks_back: bool = False

    def is_counted(self, window: Window) -> bool:
        return not self.looks_back or sessions_stay((window.last - window.first + self.precedes).days + 1)

    def count(self, window: Window, reveal: Reveal) -> dict[Key, Figure]:
        """Return the figures by key; two statements at most."""
        facts = read_sql(Path(__file__).with_name("sql") / f"{self.file}.sql")
        with connection.cursor() as cursor:
            cursor.execute(
                read_sql(Path(__file__).with_name("sql") / "rows.sql", facts=facts),
                {
                    "start": start_of(window.first), "end": start_of(window.last + _DAY), "span": self.span.value,
                    "last_day": start_of(window.last), "ratio": RATIO, **reveal._asdict(),
                },
            )  # fmt: skip
            return {Key(*row[:5]): Figure(*row[5:]) for row in cursor.fetchall()}

    @property
    def file(self) -> str:
        return self.name.partition(" ")[0]

    def lost_rows(self, window: Window) -> bool:
        """Return whether rows of the window may be deleted, so that a recount finds less."""
        if not self.names_people:
            return self.forgets and window.is_settled
        with connection.cursor() as cursor:
            cursor.execute(
                """
                SELECT EXISTS (
                    SELECT FROM battles_battle AS battle
                    JOIN battles_session AS session ON session.id = battle.session_id
                    WHERE battle.created_at >= %s AND battle.created_at < %s
                        AND session.owner_user_id IS NULL AND session.owner_visitor_id IS NULL
                )
                """,
                [start_of(window.first - self.precedes), start_of(window.last + _DAY + self.follows)],
            )
            return bool(cursor.fetchone()[0])


def start_of(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _ending(days: int) -> Callable[[date], Window]:
    return lambda day: Window(day - (days - 1) * _DAY, day, day)


def _week(day: date) -> Window:
    monday = day - day.weekday() * _DAY
    return Window(monday, monday + 6 * _DAY, monday)


def _month(day: date) -> Window:
    first = day.replace(day=1)
    return Window(first, (first + 31 * _DAY).replace(day=1) - _DAY, first)


def _of_day(*metrics: str) -> frozenset[tuple[str, str]]:
    return frozenset((metric, Span.DAY) for metric in metrics)


def _people(span: Span, window: Callable[[date], Window]) -> Family:
    metrics = {("active_people", span), ("battles_per_person", span)}
    if span is Span.DAYS_28:
        metrics.add(("stickiness", Span.DAY))
    return Family(f"people {span}", frozenset(metrics), window, span, names_people=True, looks_back=True)


def _site(span: Span, window: Callable[[date], Window]) -> Family:
    """Return the family of public statistics."""
    metrics = frozenset((f"site_{name}", span) for name in ("battles", "people", "votes", "voters"))
    return Family(f"site {span}", metrics, window, span, names_people=True)


# Counted for today every ten minutes: figures of one day.
DAILY = (
    Family("use", _of_day("battles", "votes_per_battle")),
    Family("votes", _of_day("counted_share", "excluded_votes", "time_to_vote", "win_rate")),
    Family(
        "funnel",
        _of_day(*(
            f"funnel_{step}"
            for step in ("begun", "whole", "voted", "feedback", "again", "void", "stopped", "open")
        )),
    ),
    Family(
        "calls",
        _of_day(
            "first_token", "answer_time", "tokens_per_second", "failed_share", "empty_share", "cut_off_share",
            "refused_share", "cost", "cost_per_1000_tokens", "failures",
        ),
    ),
    Family("standings", _of_day("score", "elo")),
    Family("battle_costs", _of_day("cost_per_battle", "cost_per_vote")),
    Family("spending", _of_day("spent", "unsettled")),
    # Decisions are deleted after some time.
    Family("router", _of_day("decisions", "explored_share", "fallback_share", "saved", "best_cost"), forgets=True),
    _people(Span.DAY, one_day),
    _site(Span.DAY, one_day),
)  # fmt: skip
# Counted every night: figures of people over several days, and of people who come back.
WIDE = (
    _people(Span.DAYS_7, _ending(7)),
    _people(Span.DAYS_28, _ending(28)),
    _people(Span.WEEK, _week),
    _people(Span.MONTH, _month),
    _site(Span.WEEK, _week),
    _site(Span.MONTH, _month),
    Family(
        "retention", frozenset({("retention", Span.WEEK)}), _week, Span.WEEK, names_people=True,
        precedes=10_000 * _DAY, shifts=True, looks_back=True,
    ),
    # The last one: it marks the day as counted.
    Family("returning", _of_day(MARK), names_people=True, follows=7 * _DAY),
)  # fmt: skip
ALL = (*DAILY, *WIDE)
OF_ROWS_THAT_STAY = tuple(family for family in DAILY if not family.names_people and not family.forgets)
