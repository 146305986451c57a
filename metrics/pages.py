"""Pages of charts, of the arena for operators and of a team for its owners."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from decimal import Decimal
from typing import NamedTuple
from urllib.parse import urlencode

from django.db.models import Sum
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from accounts.models import Team
from battles.models import Battle, RoutingDecision, Vote
from common.errors import InvalidInput
from common.text.money import rounded_dollars
from metrics.catalogue import BY_NAME, Bucket, Kind, Metric, Unit
from metrics.chart_list import Chart, Page
from metrics.charts import draw
from metrics.drawn import Cell, DrawnChart, Row
from metrics.marks import Mark, read_marks
from metrics.models import MetricDay
from metrics.payload_types import MetricLinePayload, MetricPointPayload
from metrics.periods import period_parameters
from metrics.series import (
    DEFAULT_DAYS,
    FILTERS,
    MODEL,
    SeriesQuery,
    Shared,
    definition_of,
    read_days,
    read_series,
    start_of_bucket,
    start_of_next,
)
from metrics.texts import axis_dates, day_text, number_text
from models_registry.models import LanguageModel
from models_registry.models.budgets import Budget, budget_of

MAX_LINES = 8
# Figures that exist by day alone, beside those by week or month.
MAX_DAYS = 90


@dataclass(frozen=True)
class PageQuery:
    """Choices in the address of a page. filters: at most one dimension."""

    first: date
    last: date
    bucket: Bucket
    filters: dict[str, str] = field(hash=False)
    team: Team | None = None
    reads_models: bool = True
    # Models of charts that no filter narrows.
    busiest: tuple[str, ...] = ()

    @classmethod
    def read(cls, data: Mapping[str, str], team: Team | None, *, reads_models: bool) -> "PageQuery":
        """Raises InvalidInput."""
        name = data.get("bucket") or Bucket.DAY
        if name not in list(Bucket):
            raise InvalidInput(fields={"bucket": [_("Choose one of: %(choices)s.") % {"choices": ", ".join(Bucket)}]})
        first, last = read_days(data, Bucket(name))
        names = FILTERS if reads_models else [each for each in FILTERS if each != MODEL]
        filters = {each: data[each] for each in names if data.get(each)}
        if len(filters) > 1:
            sentence = _("Figures exist by one of mode, language and model at a time: leave out all but one.")
            raise InvalidInput(fields={each: [sentence] for each in list(filters)[:1]})
        return cls(first, last, Bucket(name), filters, team, reads_models)

    @property
    def parameters(self) -> dict[str, str]:
        """Return the parameters of this query's address."""
        return {**period_parameters(self.first, self.last, self.bucket), **self.kept}

    @property
    def kept(self) -> dict[str, str]:
        """Return its parameters beside the period. The address of a team's page names the team."""
        return {**self.filters, **({"team": self.team.slug} if self.team and self.reads_models else {})}

    def of_metric(self, chart: Chart, metric: Metric) -> SeriesQuery:
        """Return the query of one of a chart's metrics; filters that it does not have are left out."""
        filters = {name: value.split(",") for name, value in self.filters.items() if name in metric.dims}
        by = chart.by if not filters or chart.by in filters else ""
        if by == MODEL and MODEL not in filters:
            filters = {MODEL: [*self.busiest]}
        if self.bucket in metric.buckets:
            return SeriesQuery(metric, self.first, self.last, self.bucket, by, filters, self.team)
        first = max(self.first, self.last - timedelta(days=MAX_DAYS - 1))
        return SeriesQuery(metric, first, self.last, metric.buckets[0], by, filters, self.team)


def read_page(page: Page, query: PageQuery) -> tuple[list[DrawnChart], list[Mark]]:
    """Return the page's charts, and the events marked on them; as many queries for any number of rows."""
    models: list[LanguageModel] = []
    if any(chart.by == MODEL for chart in page.charts):
        models = _models(query)
        query = replace(query, busiest=tuple(model.full_slug for model in models))
    marks = read_marks(query.first, query.last, query.bucket, models)
    shared = Shared()
    return [_read_chart(chart, query, marks, shared) for chart in page.charts], marks


class FunnelStep(NamedTuple):
    """Battles of the whole period that took a step, and their shares."""

    label: Promise
    n: int
    of_first: str
    of_previous: str


_STEPS = ("funnel_begun", "funnel_whole", "funnel_voted", "funnel_feedback", "funnel_again", "funnel_back")


def read_funnel(query: PageQuery) -> list[FunnelStep]:
    """Return the steps from the prompt to the return within seven days, of whole buckets as in charts; one query."""
    [(dim, key)] = [each for each in query.filters.items() if each[0] in BY_NAME["funnel_begun"].dims] or [("", "")]
    rows = MetricDay.objects.filter(
        metric__in=_STEPS, span=MetricDay.Span.DAY, team=query.team, dim=dim, key__in=key.split(","),
        day__gte=start_of_bucket(query.first, query.bucket), day__lt=start_of_next(query.last, query.bucket),
    )  # fmt: skip
    sums = {
        name: (n, int(total))
        for name, n, total in rows.order_by().values_list("metric").annotate(Sum("n"), Sum("total"))
    }
    steps, previous = [], 0
    for name in _STEPS:
        # Those who came back are of battles whose person is known.
        base, n = sums.get(name, (0, 0))
        steps.append(FunnelStep(BY_NAME[name].label, n, _share(n, base), _share(n, previous)))
        previous = n
    return steps if steps[0].n else []


def _share(part: int, whole: int) -> str:
    return value_text(BY_NAME["funnel_begun"], part / whole) if whole else "–"


def _read_chart(chart: Chart, query: PageQuery, marks: list[Mark], shared: Shared) -> DrawnChart:
    metrics = [BY_NAME[name] for name in chart.metrics]
    queries = [query.of_metric(chart, metric) for metric in metrics]
    found = [read_series(each, shared) for each in queries]
    lines = [(metric, line) for metric, series in zip(metrics, found, strict=True) for line in series["series"]]
    is_cut = len(lines) > MAX_LINES
    lines = sorted(lines, key=lambda line: -_size(line[1]))[:MAX_LINES] if chart.by else lines[:MAX_LINES]
    values = [[point["value"] for point in line["points"]] for _metric, line in lines]
    points = lines[0][1]["points"] if lines else []
    is_share = metrics[0].unit is Unit.SHARE
    budget = _budget(queries[0]) if chart.has_budget else None
    drawing = draw(
        values,
        bands=[_band(point) for point in points] if len(lines) == 1 else (),
        unfinished=[sum(bool(point.get("unfinished")) for point in line["points"]) for _metric, line in lines],
        maximum=1.0 if is_share and any(value and value > 0.5 for line in values for value in line) else None,
        from_zero=metrics[0].unit is not Unit.POINTS,
        projected=[line["points"][-1].get("projected") for _metric, line in lines],
        marks=marked_buckets(marks, queries[0]) if points else (),
        limit=None if budget is None else float(budget),
    )
    bucket = queries[0].bucket
    return DrawnChart(
        chart.id, chart.title, _notes(metrics, queries, query, budget, is_cut=is_cut), drawing,
        names=[_name(chart, queries[0], metric, line) for metric, line in lines],
        ticks=[(tick.at, value_text(metrics[0], tick.value)) for tick in drawing.ticks],
        dates=axis_dates(drawing, [day_text(point["at"], bucket) for point in points]),
        rows=_rows(lines, bucket),
        csv=[(metric.label, _csv_query(each)) for metric, each in zip(metrics, queries, strict=True)],
        has_values=any(point["n"] for _metric, line in lines for point in line["points"]),
    )  # fmt: skip


def marked_buckets(marks: list[Mark], query: SeriesQuery) -> list[tuple[int, int]]:
    """Return index and number of the chart's buckets with marks."""
    indexes = {start: index for index, start in enumerate(query.starts)}
    numbers: dict[int, int] = {}
    for mark in marks:
        for start in (start_of_bucket(day, query.bucket) for day in mark.days):
            if start in indexes:
                numbers.setdefault(indexes[start], mark.number)
    return list(numbers.items())


def _models(query: PageQuery) -> list[LanguageModel]:
    """Return the chosen models, or those with most calls in the last four weeks."""
    models = LanguageModel.objects.on_boards_of(query.team.pk if query.team else None).select_related("team")
    if chosen := query.filters.get(MODEL):
        return [*models.named(chosen.split(","))[:MAX_LINES]]
    rows = MetricDay.objects.filter(
        metric="failed_share", dim=MODEL, team=query.team, span=MetricDay.Span.DAY, day__lte=query.last,
        key__in=[str(pk) for pk in models.order_by().values_list("pk", flat=True)],
        day__gte=max(query.first, query.last - timedelta(days=DEFAULT_DAYS - 1)),
    )  # fmt: skip
    busiest = rows.order_by().values_list("key").annotate(size=Sum("n")).order_by("-size", "key")[:MAX_LINES]
    keys = [int(key) for key, _size in busiest]
    return [*models.filter(pk__in=keys)]


def _size(line: MetricLinePayload) -> int:
    return sum(point["n"] for point in line["points"])


def _band(point: MetricPointPayload) -> tuple[float, float] | None:
    return (point["low"], point["high"]) if "low" in point and point["value"] is not None else None


def _name(chart: Chart, query: SeriesQuery, metric: Metric, line: MetricLinePayload) -> str:
    if not chart.by or query.by != chart.by:
        return str(metric.label)
    return key_name(chart.by, line["name"])


def key_name(dim: str, key: str) -> str:
    """Return a key as people read it."""
    match dim:
        case "mode":
            return str(dict(Battle.Mode.choices).get(key, key))
        case "reason":
            return str(dict(Vote.ExcludedReason.choices).get(key, key))
        case "target":
            return str(dict(RoutingDecision.Target.choices).get(key, key))
        case "week":
            return _("week %(n)s") % {"n": key}
    return key


def _rows(lines: list[tuple[Metric, MetricLinePayload]], bucket: Bucket) -> list[Row]:
    if not lines:
        return []
    rows = [
        Row(
            day_text(point["at"], bucket),
            all(line["points"][index].get("unfinished") for _metric, line in lines),
            [_cell(metric, line["points"][index]) for metric, line in lines if index < len(line["points"])],
        )
        for index, point in enumerate(lines[0][1]["points"])
    ]
    return rows[::-1]


def _cell(metric: Metric, point: MetricPointPayload) -> Cell:
    value, n = point["value"], point["n"]
    if point.get("few"):
        return Cell(_("< 5"), _("of %(n)s") % {"n": number_text(n)} if n else "")
    if not n or metric.kind is Kind.SUM or metric.unit is Unit.POINTS:
        projected = point.get("projected")
        note = "" if projected is None else _("projected: %(value)s") % {"value": value_text(metric, projected)}
        return Cell("–" if value is None else value_text(metric, value), note)
    note = _("of %(n)s") % {"n": number_text(n)}
    if value is None:
        return Cell("–")
    if metric.settles and point.get("unfinished"):
        note += f", {_('unfinished')}"
    if "low" in point:
        note = f"{value_text(metric, point['low'])} – {value_text(metric, point['high'])}, {note}"
    return Cell(value_text(metric, value), note)


def value_text(metric: Metric, value: float) -> str:
    """Return the value with its unit, in the reader's language."""
    match metric.unit:
        case Unit.SHARE:
            return _("%(percent)s %%") % {"percent": number_text(round(100 * value, 1))}
        case Unit.DOLLARS:
            return rounded_dollars(Decimal(str(value)))
        case Unit.MILLISECONDS:
            return _("%(n)s s") % {"n": number_text(round(value / 1000, 2))}
        case Unit.SECONDS:
            return _("%(n)s s") % {"n": number_text(round(value, 1))}
    return number_text(round(value, 1))


def _budget(query: SeriesQuery) -> Decimal | None:
    """Return the present budget of a bucket; None without a limit."""
    match query.bucket, query.team:
        case Bucket.DAY, None:
            return budget_of(Budget.Whose.SITE)
        case Bucket.DAY, Team() as team:
            return team.day_budget
        case Bucket.MONTH, Team() as team:
            return team.month_budget
    return None


def _notes(
    metrics: list[Metric], queries: list[SeriesQuery], query: PageQuery, budget: Decimal | None, *, is_cut: bool
) -> list[str]:
    notes = list(dict.fromkeys(definition_of(metric) for metric in metrics))
    if query.filters and any(query.filters.keys() != each.filters.keys() for each in queries):
        notes.append(_("The filter does not apply here."))
    if any(each.bucket is not query.bucket for each in queries):
        notes.append(_("These figures do not add up: each is of its own day or week, of the last 90 days."))
    if is_cut:
        notes.append(_("The %(n)d largest series; the file has all.") % {"n": MAX_LINES})
    if budget is not None:
        notes.append(_("The line across is the present budget: %(amount)s.") % {"amount": rounded_dollars(budget)})
    return notes


def _csv_query(query: SeriesQuery) -> str:
    filters = {name: ",".join(keys) for name, keys in query.filters.items()}
    parameters = {
        "metric": query.metric.name, **period_parameters(query.first, query.last, query.bucket), "by": query.by,
        **filters, "team": query.team.slug if query.team else "", "as": "csv",
    }  # fmt: skip
    return urlencode({name: value for name, value in parameters.items() if value})
