"""Every figure over time: the one list that the API, pages, documents and tests read."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from metrics.models import MetricDay, sessions_stay

Span = MetricDay.Span


class Bucket(StrEnum):
    DAY = "day"
    WEEK = "week"
    MONTH = "month"


class Unit(StrEnum):
    PERSONS = "persons"
    BATTLES = "battles"
    VOTES = "votes"
    CALLS = "calls"
    DECISIONS = "decisions"
    SHARE = "share"
    SECONDS = "s"
    MILLISECONDS = "ms"
    TOKENS_PER_SECOND = "tokens/s"
    DOLLARS = "USD"
    POINTS = "points"


class Kind(StrEnum):
    """Value of a point: the sum of totals; totals per n; a quantile of the buckets."""

    SUM = "sum"
    MEAN = "mean"
    SHARE = "share"
    QUANTILE = "quantile"


EVERY_BUCKET = tuple(Bucket)
SPAN_DAYS = {Span.DAY: 1, Span.DAYS_7: 7, Span.DAYS_28: 28, Span.WEEK: 7, Span.MONTH: 31}
# Each team's rows without a dimension.
TEAM = "team"


@dataclass(frozen=True)
class Metric:
    """row, quantile: what MetricDay calls it, and which quantile of its buckets. dims: of `by` and of filters.

    spans: of the rows by bucket, where figures of days do not add up. whole: whether there is a row about everything.
    exact: buckets are the values themselves. settles: days after a bucket that still change it. is_flow: whether the
    days to come add to the sum. looks_back: days of sessions that the figure needs, beside those of its span.
    """

    name: str
    label: Promise
    definition: Promise
    unit: Unit
    kind: Kind
    dims: tuple[str, ...] = ()
    row: str = ""
    quantile: float | None = None
    spans: tuple[tuple[Bucket, Span], ...] = ()
    whole: bool = True
    exact: bool = False
    settles: int = 0
    is_flow: bool = True
    looks_back: int = 0

    @property
    def stored_as(self) -> str:
        return self.row or self.name

    @property
    def buckets(self) -> tuple[Bucket, ...]:
        return tuple(bucket for bucket, _span in self.spans) or EVERY_BUCKET

    def span_of(self, bucket: Bucket) -> Span:
        return dict(self.spans).get(bucket, Span.DAY)

    def is_known(self, bucket: Bucket) -> bool:
        """Return whether sessions are kept as long as the figure needs them; later, persons are unknown."""
        return self.adds_up or sessions_stay(max(self.looks_back, SPAN_DAYS[self.span_of(bucket)]))

    @property
    def adds_up(self) -> bool:
        return not self.spans

    @property
    def groups(self) -> tuple[str, ...]:
        """Return the dimensions of `by`; those of filters are `dims`."""
        return (*self.dims, TEAM) if self.whole else self.dims


_PLACES = ("mode", "language")
OWN_SPANS = ((Bucket.DAY, Span.DAY), (Bucket.WEEK, Span.WEEK), (Bucket.MONTH, Span.MONTH))
_LATE = _(
    "Calls of battles whose models are known, until one to two hours ago: of a blind battle once its vote was "
    "aggregated."
)


def _funnel(step: str, label: Promise, definition: Promise) -> Metric:
    return Metric(f"funnel_{step}", label, definition, Unit.SHARE, Kind.SHARE, _PLACES)


def _quantiles(
    row: str, labels: Iterable[tuple[float, str, Promise]], definition: Promise, unit: Unit, dims: tuple[str, ...]
) -> list[Metric]:
    return [
        Metric(f"{row}_{name}", label, definition, unit, Kind.QUANTILE, dims, row, quantile)
        for quantile, name, label in labels
    ]


METRICS: tuple[Metric, ...] = (
    Metric(
        "active_people", _("Active people"),
        _("Different persons with a battle begun in the day, the calendar week or the month (UTC)."),
        Unit.PERSONS, Kind.SUM, _PLACES, spans=OWN_SPANS,
    ),
    Metric(
        "active_people_7d", _("Active people in 7 days"),
        _("Different persons with a battle begun in the seven days that end with the day (UTC)."),
        Unit.PERSONS, Kind.SUM, _PLACES, row="active_people", spans=((Bucket.DAY, Span.DAYS_7),),
    ),
    Metric(
        "active_people_28d", _("Active people in 28 days"),
        _("Different persons with a battle begun in the 28 days that end with the day (UTC)."),
        Unit.PERSONS, Kind.SUM, _PLACES, row="active_people", spans=((Bucket.DAY, Span.DAYS_28),),
    ),
    Metric(
        "stickiness", _("Stickiness"),
        _("Of the persons active in the 28 days that end with the day, the share that was active on the day."),
        Unit.SHARE, Kind.SHARE, _PLACES, spans=((Bucket.DAY, Span.DAY),), looks_back=28,
    ),
    Metric(
        "battles", _("Battles"), _("Battles begun, of every mode, also those that became void."),
        Unit.BATTLES, Kind.SUM, (*_PLACES, "models"),
    ),
    Metric(
        "battles_per_person", _("Battles per person, mean"),
        _("Battles begun, for each person with at least one in the day, week or month."),
        Unit.BATTLES, Kind.MEAN, _PLACES, spans=OWN_SPANS,
    ),
    Metric(
        "battles_per_person_p50", _("Battles per person, median"),
        _("Half of the persons with a battle in the day, week or month began at most so many."),
        Unit.BATTLES, Kind.QUANTILE, _PLACES, "battles_per_person", 0.5, OWN_SPANS, exact=True,
    ),
    Metric(
        "battles_per_person_p90", _("Battles per person, 90 %"),
        _("Nine in ten of the persons with a battle in the day, week or month began at most so many."),
        Unit.BATTLES, Kind.QUANTILE, _PLACES, "battles_per_person", 0.9, OWN_SPANS, exact=True,
    ),
    Metric(
        "votes_per_battle", _("Votes per battle"),
        _("Of the battles begun in modes that take a vote, without void ones, those that have one by now."),
        Unit.SHARE, Kind.SHARE, (*_PLACES, "models"),
    ),
    Metric(
        "counted_share", _("Counted votes"),
        _("Of the votes cast, those that boards count. Votes in reviews are left out."),
        Unit.SHARE, Kind.SHARE, _PLACES,
    ),
    Metric(
        "excluded_votes", _("Votes not counted"),
        _("Votes cast that boards do not count, by reason. Votes in reviews are left out."),
        Unit.VOTES, Kind.SUM, ("reason",),
    ),
    _funnel("begun", _("Begun"), _("Battles begun, blind or side by side, until one to two hours ago.")),
    _funnel("whole", _("All answers came"), _("Of the battles begun, those whose first answers were all complete.")),
    _funnel("voted", _("Voted"), _("Of the battles begun, those with a vote by now.")),
    _funnel("feedback", _("Feedback"), _("Of the battles begun, those whose vote has a tag.")),
    _funnel(
        "again", _("Next battle in the session"),
        _("Of the battles begun, those with a later one in the session."),
    ),
    Metric(
        "funnel_back", _("Back within 7 days"),
        _(
            "Of the battles begun, those whose person began another on one of the seven days after it, in the arena "
            "or in the team. Counted at night, without deleted sessions; complete after these days."
        ),
        Unit.SHARE, Kind.SHARE, _PLACES, settles=7,
    ),
    _funnel("void", _("Void"), _("Of the battles begun, those that became void, such as after a failure.")),
    _funnel("stopped", _("Stopped"), _("Of the battles begun, those in which a person stopped an answer.")),
    _funnel("open", _("Left open"), _("Of the battles begun, those that are neither voted nor void by now.")),
    *_quantiles(
        "time_to_vote", [(0.5, "p50", _("Time to vote, median")), (0.9, "p90", _("Time to vote, 90 %"))],
        _("Seconds from the end of the later answer to the vote, by the day of the vote."), Unit.SECONDS, _PLACES,
    ),
    Metric(
        "retention", _("Return by week"),
        _(
            "Of the persons whose first battle was so many weeks before, the share with a battle in the week. Fewer "
            "than five persons are not shown."
        ),
        Unit.SHARE, Kind.SHARE, ("week",), spans=((Bucket.WEEK, Span.WEEK),), whole=False,
        looks_back=10_000,
    ),
    Metric(
        "win_rate", _("Win rate"),
        _(
            "Wins and half of the ties, of the counted blind votes on drawn pairs with the model, with a 95 % interval "
            "(Wilson). Until one to two hours ago."
        ),
        Unit.SHARE, Kind.SHARE, ("model",), whole=False,
    ),
    Metric(
        "score", _("Score"), _("On Overall, in the last snapshot of each day that has one."),
        Unit.POINTS, Kind.MEAN, ("model",), whole=False,
    ),
    Metric(
        "elo", _("Elo"), _("On Overall, in the last snapshot of each day that has one."),
        Unit.POINTS, Kind.MEAN, ("model",), whole=False,
    ),
    *_quantiles(
        "first_token", [(0.5, "p50", _("First token, median")), (0.95, "p95", _("First token, 95 %"))],
        _LATE, Unit.MILLISECONDS, ("mode", "model"),
    ),
    *_quantiles(
        "answer_time", [(0.5, "p50", _("Whole answer, median")), (0.95, "p95", _("Whole answer, 95 %"))],
        _LATE, Unit.MILLISECONDS, ("mode", "model"),
    ),
    *_quantiles(
        "tokens_per_second",
        [(0.5, "p50", _("Tokens a second, median")), (0.05, "p05", _("Tokens a second, 5 %"))],
        _LATE, Unit.TOKENS_PER_SECOND, ("mode", "model"),
    ),
    Metric("failed_share", _("Failed calls"), _LATE, Unit.SHARE, Kind.SHARE, ("mode", "model")),
    Metric("empty_share", _("Empty answers"), _LATE, Unit.SHARE, Kind.SHARE, ("mode", "model")),
    Metric("cut_off_share", _("Answers cut off"), _LATE, Unit.SHARE, Kind.SHARE, ("mode", "model")),
    Metric("refused_share", _("Answers refused by a filter"), _LATE, Unit.SHARE, Kind.SHARE, ("mode", "model")),
    Metric("failures", _("Failures"), _LATE, Unit.CALLS, Kind.SUM, ("code",)),
    Metric("cost", _("Cost of answers"), _LATE, Unit.DOLLARS, Kind.SUM, ("mode", "model")),
    Metric(
        "cost_per_1000_tokens", _("Cost of 1,000 tokens"), _LATE, Unit.DOLLARS, Kind.MEAN, ("mode", "model"),
    ),
    Metric(
        "cost_per_battle", _("Cost of a battle"),
        _("Cost of all calls for each battle begun whose models are known, until one to two hours ago."),
        Unit.DOLLARS, Kind.MEAN, ("mode",),
    ),
    Metric(
        "cost_per_vote", _("Cost of a counted vote"),
        _("Cost of all calls of battles whose models are known, for each of their counted votes."),
        Unit.DOLLARS, Kind.MEAN, ("mode",),
    ),
    Metric(
        "spent", _("Spent"),
        _(
            "What budgets count: all calls, also those of benchmarks and the gateway; a team's blind answers at the "
            "mean price of the models that could be drawn."
        ),
        Unit.DOLLARS, Kind.SUM,
    ),
    Metric(
        "unsettled", _("Reserved, not settled"),
        _("Most that calls may cost which have not ended, by the day on which they began."),
        Unit.DOLLARS, Kind.SUM, is_flow=False,
    ),
    Metric(
        "decisions", _("Decisions of auto mode"), _("Until one to two hours ago, of the last 90 days when counted."),
        Unit.DECISIONS, Kind.SUM, ("target", "type"),
    ),
    Metric(
        "explored_share", _("Battles to learn from"),
        _("Of the decisions that neither a rule nor the conversation determined, those that began a battle to learn."),
        Unit.SHARE, Kind.SHARE,
    ),
    Metric(
        "fallback_share", _("Another model after a failure"),
        _("Of the decisions for one model, those after whose failure another model answered."),
        Unit.SHARE, Kind.SHARE,
    ),
    Metric(
        "saved", _("Saved against always asking the best"),
        _("Expected cost of the board's best model without that of the choice, where one model was chosen."),
        Unit.DOLLARS, Kind.SUM,
    ),
    Metric(
        "best_cost", _("Always asking the best"),
        _("Expected cost of the board's best model for the same questions."),
        Unit.DOLLARS, Kind.SUM,
    ),
)  # fmt: skip
BY_NAME = {metric.name: metric for metric in METRICS}
