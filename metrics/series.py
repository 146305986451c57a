"""Reading: points of one metric over time, from MetricDay alone."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from math import sqrt

from django.conf import settings
from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import DateField, Q, QuerySet, Sum
from django.db.models.functions import Cast, Trunc
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import Team
from common.errors import InvalidInput
from metrics.catalogue import BY_NAME, TEAM, Bucket, Kind, Metric
from metrics.histograms import middle, quantile_bucket
from metrics.models import MetricDay
from metrics.payload_types import MetricLinePayload, MetricPayload, MetricPointPayload, MetricSeriesPayload
from models_registry.models import LanguageModel
from models_registry.models.ledger import today

MAX_POINTS, MAX_KEYS = 400, 50
MIN_PERSONS = 5
DEFAULT_DAYS = 28
MODEL = "model"
# Dimensions that a filter can name.
FILTERS = ("mode", "language", MODEL)
_Z = 1.959963984540054
_DAY = timedelta(days=1)


@dataclass(frozen=True)
class SeriesQuery:
    """filters: chosen keys by dimension. team: None for the whole arena."""

    metric: Metric
    first: date
    last: date
    bucket: Bucket = Bucket.DAY
    by: str = ""
    filters: Mapping[str, list[str]] = field(default_factory=dict)
    team: Team | None = None

    @classmethod
    def read(cls, data: Mapping[str, str], team: Team | None = None) -> "SeriesQuery":
        """Raises InvalidInput, which names the parameter."""
        metric = BY_NAME.get(data.get("metric", ""))
        if metric is None:
            raise InvalidInput(fields={"metric": [_("There is no such metric: see catalogue/.")]})
        bucket = _read_bucket(data.get("bucket") or metric.buckets[0])
        if bucket not in metric.buckets:
            sentence = _("This metric does not add up; choose bucket=%(choices)s.")
            raise InvalidInput(fields={"bucket": [sentence % {"choices": ", ".join(metric.buckets)}]})
        first, last = read_days(data, bucket)
        by = data.get("by", "") or ("" if metric.whole else metric.dims[0])
        groups = metric.groups if team is None else metric.dims
        if by and by not in groups:
            choices = ", ".join(groups) or "–"
            raise InvalidInput(fields={"by": [_("Choose one of: %(choices)s.") % {"choices": choices}]})
        return cls(metric, first, last, bucket, by, _read_filters(data, metric, by), team)

    @property
    def reads_models(self) -> bool:
        return self.dim == MODEL

    @property
    def dim(self) -> str:
        """Return the one dimension of the series."""
        return self.by or next(iter(self.filters), "")

    @property
    def key_field(self) -> str:
        """Return the field of MetricDay by which rows are in different series."""
        return "team" if self.dim == TEAM else "key"

    @property
    def starts(self) -> list[date]:
        return starts_of_buckets(self.first, self.last, self.bucket)


def start_of_bucket(day: date, bucket: Bucket) -> date:
    match bucket:
        case Bucket.WEEK:
            return day - day.weekday() * _DAY
        case Bucket.MONTH:
            return day.replace(day=1)
    return day


def start_of_next(day: date, bucket: Bucket) -> date:
    """Return the first day of the bucket after that of a day."""
    days = {Bucket.DAY: 1, Bucket.WEEK: 7, Bucket.MONTH: 31}[bucket]
    return start_of_bucket(start_of_bucket(day, bucket) + days * _DAY, bucket)


def starts_of_buckets(first: date, last: date, bucket: Bucket) -> list[date]:
    """Return the first day of each bucket with a day of the period."""
    starts = [start_of_bucket(first, bucket)]
    while (following := start_of_next(starts[-1], bucket)) <= last:
        starts.append(following)
    return starts


def _read_bucket(name: str) -> Bucket:
    try:
        return Bucket(name)
    except ValueError:
        raise InvalidInput(
            fields={"bucket": [_("Choose one of: %(choices)s.") % {"choices": ", ".join(Bucket)}]}
        ) from None


def read_days(data: Mapping[str, str], bucket: Bucket) -> tuple[date, date]:
    """Return `from` and `to`, by default the last four weeks. Raises InvalidInput."""
    last = _read_day(data, "to") or today()
    first = _read_day(data, "from") or max(last, date(1, 2, 1)) - (DEFAULT_DAYS - 1) * _DAY
    if first > last:
        raise InvalidInput(fields={"from": [_("The period begins after its end.")]})
    days = {Bucket.DAY: 1, Bucket.WEEK: 7, Bucket.MONTH: 28}[bucket]
    if (last - first).days // days >= MAX_POINTS:
        sentence = _("At most %(n)d points: choose a longer bucket, or a later from.") % {"n": MAX_POINTS}
        raise InvalidInput(fields={"bucket": [sentence]})
    return first, last


def _read_day(data: Mapping[str, str], name: str) -> date | None:
    text = data.get(name, "")
    if not text:
        return None
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = None
    if day is None or len(text) != len("2026-11-30") or not 2000 <= day.year <= 2999:
        raise InvalidInput(fields={name: [_("Give a day such as %(day)s.") % {"day": "2026-11-30"}]})
    return day


def _read_filters(data: Mapping[str, str], metric: Metric, by: str) -> dict[str, list[str]]:
    filters = {
        name: list(dict.fromkeys(filter(None, data.get(name, "").split(",")))) for name in FILTERS if data.get(name)
    }
    for name, keys in filters.items():
        if name not in metric.dims:
            raise InvalidInput(fields={name: [_("This metric has no figures by %(name)s.") % {"name": name}]})
        if len(keys) > MAX_KEYS:
            raise InvalidInput(fields={name: [_("Name at most %(n)d.") % {"n": MAX_KEYS}]})
    if len({*filters, *([by] if by else [])}) > 1:
        sentence = _("Figures exist by one of mode, language and model at a time: leave out all but one.")
        raise InvalidInput(fields={"by": [sentence]})
    return filters


Histograms = dict[tuple[str, date], Counter[int]]


@dataclass
class Shared:
    """Rows that several series of a page need."""

    models: dict[tuple[str, ...] | None, dict[str, LanguageModel]] = field(default_factory=dict)
    histograms: dict[tuple[object, ...], Histograms] = field(default_factory=dict)


def read_series(query: SeriesQuery, shared: Shared | None = None) -> MetricSeriesPayload:
    """Return the points of each key: two queries, a further one for models or teams.

    Raises InvalidInput where there are too many keys.
    """
    rows, shared = _rows(query), shared or Shared()
    models: dict[str, LanguageModel] = {}
    if query.reads_models:
        models = _models(query, shared)
        rows = rows.filter(key__in=list(models))
    elif query.dim in query.filters:
        rows = rows.filter(key__in=query.filters[query.dim])
    _check_keys(query, rows)
    cells = _cells(query, rows, shared)
    keys = sorted({key for key, _at in cells}, key=lambda key: (len(key) if key.isdecimal() else 0, key))
    keys = keys if query.dim else [""]
    owners = models if query.dim != TEAM else {str(team.pk): team for team in Team.objects.filter(pk__in=keys)}
    return {
        "metric": query.metric.name,
        "unit": query.metric.unit.value,
        "definition": definition_of(query.metric),
        "bucket": query.bucket.value,
        "series": [_line(query, key, cells, owners.get(key)) for key in keys],
    }


def _rows(query: SeriesQuery) -> "QuerySet[MetricDay]":
    """Return the rows of whole buckets."""
    place = {"dim": "", "team__isnull": False} if query.dim == TEAM else {"dim": query.dim, "team": query.team}
    return MetricDay.objects.filter(
        **place, metric=query.metric.stored_as, span=query.metric.span_of(query.bucket),
        day__gte=start_of_bucket(query.first, query.bucket), day__lt=start_of_next(query.last, query.bucket),
    )  # fmt: skip


def _models(query: SeriesQuery, shared: Shared) -> dict[str, LanguageModel]:
    """Return the models by key: the chosen ones, or all of the place."""
    chosen = query.filters.get(MODEL)
    choice = None if chosen is None else tuple(chosen)
    if choice not in shared.models:
        models = LanguageModel.objects.on_boards_of(None if query.team is None else query.team.pk)
        if chosen is not None:
            models = models.named(chosen)
        shared.models[choice] = {str(model.pk): model for model in models.order_by().select_related("team")}
    return shared.models[choice]


def _check_keys(query: SeriesQuery, rows: "QuerySet[MetricDay]") -> None:
    if query.by in query.filters:
        return  # at most MAX_KEYS
    if query.by and len(rows.order_by().values(query.key_field).distinct()[: MAX_KEYS + 1]) > MAX_KEYS:
        name = query.by if query.by in FILTERS else "from"
        sentence = _("More than %(n)d series: choose some with %(name)s=, or a shorter period.")
        raise InvalidInput(fields={"by": [sentence % {"n": MAX_KEYS, "name": name}]})


@dataclass
class _Cell:
    """of_today: part of the total."""

    n: int
    total: float
    quantile: float | None = None
    of_today: float = 0


# The rows are materialized, so that a bucket's first day is found once for each row.
_ADDED_UP = """
    WITH figure (place, start, buckets) AS MATERIALIZED ({rows})
    SELECT place, start, buckets[pair], sum(buckets[pair + 1])
    FROM figure, generate_series(1, cardinality(buckets), 2) AS pair
    GROUP BY 1, 2, 3
"""


def _cells(query: SeriesQuery, rows: "QuerySet[MetricDay]", shared: Shared) -> dict[tuple[str, date], _Cell]:
    """Return the sums by key and first day of the bucket."""
    if query.metric.kind is Kind.QUANTILE:
        what = query.metric.stored_as, query.first, query.bucket, query.dim, *query.filters.get(query.dim, ())
        if what not in shared.histograms:
            shared.histograms[what] = _histograms(query, rows)
        return _quantile_cells(query, shared.histograms[what])
    at = Trunc("day", query.bucket.value, output_field=DateField())
    of_today = Sum("total", filter=Q(day=today()), default=0)
    sums = rows.order_by().values_list(query.key_field, at).annotate(of_today=of_today, n=Sum("n"), total=Sum("total"))
    return {(str(key), start): _Cell(n, float(total), of_today=float(part)) for key, start, part, n, total in sums}


def _histograms(query: SeriesQuery, rows: "QuerySet[MetricDay]") -> Histograms:
    """Return the histograms by key and first day of the bucket."""
    at = Cast(Trunc("day", query.bucket.value, output_field=DateField()), DateField())
    histograms: Histograms = defaultdict(Counter)
    try:
        selected, parameters = rows.order_by().values_list(query.key_field, at, "buckets").query.sql_with_params()
    except EmptyResultSet:  # of no model
        return histograms
    with connection.cursor() as cursor:
        cursor.execute(_ADDED_UP.format(rows=selected), parameters)
        for key, start, bucket, count in cursor:
            histograms[str(key), start][bucket] = count
    return histograms


def _quantile_cells(query: SeriesQuery, histograms: Histograms) -> dict[tuple[str, date], _Cell]:
    cells = {}
    for place, counts in histograms.items():
        bucket = quantile_bucket(counts, query.metric.quantile or 0.5)
        value = None if bucket is None else float(bucket) if query.metric.exact else middle(bucket)
        cells[place] = _Cell(counts.total(), 0, value)
    return cells


def _line(
    query: SeriesQuery, key: str, cells: Mapping[tuple[str, date], _Cell], owner: LanguageModel | Team | None
) -> MetricLinePayload:
    name = key if owner is None else owner.name
    slug = owner.full_slug if isinstance(owner, LanguageModel) else key if owner is None else owner.slug
    points = [_point(query, start, cells.get((key, start))) for start in query.starts]
    return {"key": slug if query.dim else None, "name": name, "points": points}


def _point(query: SeriesQuery, start: date, stored: _Cell | None) -> MetricPointPayload:
    metric, cell, end = query.metric, stored or _Cell(0, 0), start_of_next(start, query.bucket)
    # Figures that do not add up are counted in the night after the day.
    is_over = end < today() and metric.is_known(query.bucket)
    is_counted = start <= today() and (stored is not None or metric.adds_up or is_over)
    point: MetricPointPayload = {
        "at": start.isoformat(), "value": _value(metric, cell) if is_counted else None, "n": cell.n
    }  # fmt: skip
    if metric.name == "retention" and cell.n and cell.total < MIN_PERSONS:
        point["value"], point["few"] = None, True
        point["n"] = cell.n if cell.n >= MIN_PERSONS else 0
    elif metric.kind is Kind.SHARE and cell.n:
        point["low"], point["high"] = wilson(cell.total / cell.n, cell.n)
    if end + metric.settles * _DAY > today():
        point["unfinished"] = True
        if (projected := _projected(query, start, cell)) is not None:
            point["projected"] = projected
    return point


def _projected(query: SeriesQuery, start: date, cell: _Cell) -> float | None:
    """Return the sum of a bucket under way if its other days are as the mean of those before today."""
    metric, whole_days = query.metric, (today() - start).days
    if metric.kind is not Kind.SUM or not metric.adds_up or not metric.is_flow or whole_days < 1:
        return None
    return (cell.total - cell.of_today) / whole_days * (start_of_next(start, query.bucket) - start).days


def _value(metric: Metric, cell: _Cell) -> float | None:
    match metric.kind:
        case Kind.SUM:
            return cell.total
        case Kind.QUANTILE:
            return cell.quantile
    return cell.total / cell.n if cell.n else None


def wilson(share: float, n: int) -> tuple[float, float]:
    """Return the 95 % interval of a share of n. Source: Wilson (1927)."""
    centre = share + _Z**2 / (2 * n)
    half = _Z * sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2))
    scale = 1 + _Z**2 / n
    return max(0.0, (centre - half) / scale), min(1.0, (centre + half) / scale)


CSV_COLUMNS = ("metric", "key", "at", "value", "n", "low", "high", "unfinished", "projected", "few")


def csv_rows(series: MetricSeriesPayload) -> Iterable[tuple[object, ...]]:
    for line in series["series"]:
        for point in line["points"]:
            yield (
                series["metric"], line["key"], point["at"], point["value"], point["n"], point.get("low"),
                point.get("high"), point.get("unfinished", False), point.get("projected"),
                point.get("few", False),
            )  # fmt: skip


def definition_of(metric: Metric) -> str:
    if all(metric.is_known(bucket) for bucket in metric.buckets):
        return str(metric.definition)
    days = settings.ARENA_KEEP_DAYS
    sentence = ngettext(
        "Not counted for longer than %(n)d day: sessions are deleted after this time without use.",
        "Not counted for longer than %(n)d days: sessions are deleted after this time without use.", days,
    )  # fmt: skip
    return f"{metric.definition} {sentence % {'n': days}}"


def metric_payload(metric: Metric) -> MetricPayload:
    return {
        "metric": metric.name,
        "name": str(metric.label),
        "unit": metric.unit.value,
        "definition": definition_of(metric),
        "kind": metric.kind.value,
        "by": list(metric.groups),
        "buckets": [bucket.value for bucket in metric.buckets],
        "adds_up": metric.adds_up,
    }
