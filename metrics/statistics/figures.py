"""Public statistics, from MetricDay alone: no figure by model, none about fewer than five persons (docs/adr/0097)."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import date

from django.conf import settings
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from battles.labels.categories import category_names
from battles.labels.languages import language_name
from common.errors import InvalidInput, NotFound
from metrics.catalogue import OWN_SPANS, SPAN_DAYS, Bucket
from metrics.models import MetricDay, sessions_stay
from metrics.series import MAX_POINTS, MIN_PERSONS, read_days, start_of_bucket, start_of_next, starts_of_buckets
from metrics.statistics.payload_types import (
    FigureName,
    StatisticsAgreementPayload,
    StatisticsFigurePayload,
    StatisticsLinePayload,
    StatisticsPayload,
    StatisticsPointPayload,
)
from models_registry.models.ledger import today
from reviews.second_opinions.queries import site_agreement

MAX_LINES = 8
_SPANS = dict(OWN_SPANS)


@dataclass(frozen=True)
class Figure:
    """metric, people: what MetricDay calls the figure, and the persons that it is about."""

    name: FigureName
    title: Promise
    definition: Promise
    metric: str
    people: str
    dim: str = ""


FIGURES = (
    Figure(
        "battles", gettext_lazy("Battles"), gettext_lazy("Battles begun, of every mode."), "site_battles", "site_people"
    ),
    Figure(
        "people", gettext_lazy("People"),
        gettext_lazy("Different persons who began a battle in the day, the calendar week or the month."),
        "site_people", "site_people",
    ),
    Figure(
        "votes", gettext_lazy("Votes"),
        gettext_lazy("Votes on the battles begun, also later votes and those that boards do not count."),
        "site_votes", "site_voters",
    ),
    Figure(
        "languages", gettext_lazy("Languages"),
        gettext_lazy("Battles begun by the language of the prompt: the eight with most battles, by whole weeks."),
        "site_battles", "site_people", "language",
    ),
    Figure(
        "categories", gettext_lazy("Categories"),
        gettext_lazy(
            "Battles begun by category: the eight with most battles, by whole weeks. A battle may have several."
        ),
        "site_battles", "site_people", "category",
    ),
)  # fmt: skip


@dataclass(frozen=True)
class StatisticsQuery:
    """Period of whole buckets, from that of `first` to that of `last`."""

    first: date
    last: date
    bucket: Bucket

    @classmethod
    def read(cls, data: Mapping[str, str]) -> "StatisticsQuery":
        """Raises InvalidInput."""
        name = data.get("bucket") or Bucket.DAY
        if name not in list(Bucket):
            raise InvalidInput(fields={"bucket": [_("Choose one of: %(choices)s.") % {"choices": ", ".join(Bucket)}]})
        first, last = read_days(data, Bucket(name))
        return cls(first, last, Bucket(name))

    def bucket_of(self, figure: Figure) -> Bucket:
        """Return weeks for languages and categories: buckets of two sizes would add up to hidden ones."""
        if figure.dim:
            return Bucket.WEEK
        # Different people are known while their sessions are kept.
        if figure.metric != "site_people":
            return self.bucket
        shorter = (self.bucket, Bucket.WEEK)
        return next((bucket for bucket in shorter if sessions_stay(SPAN_DAYS[_SPANS[bucket]])), Bucket.DAY)


# Numbers by metric, dimension, key and first day of the bucket.
_Found = Mapping[tuple[str, str], Mapping[str, Mapping[date, int]]]


def require_public() -> None:
    if not settings.ARENA_PUBLIC_STATISTICS:
        raise NotFound


def read_statistics(query: StatisticsQuery) -> StatisticsPayload:
    """Return every figure; three queries for any number of rows, a few more for the agreement every five minutes."""
    by_bucket = {bucket: _read(query, bucket) for bucket in {query.bucket_of(figure) for figure in FIGURES}}
    categories = category_names()
    return {
        "first_day": query.first.isoformat(),
        "last_day": query.last.isoformat(),
        "figures": [_figure(figure, query, by_bucket[query.bucket_of(figure)], categories) for figure in FIGURES],
        "agreement": _agreement(),
    }


def _agreement() -> StatisticsAgreementPayload | None:
    site = site_agreement()
    if site is None or site.people < MIN_PERSONS:
        return None
    return {"value": site.value, "low": site.low, "high": site.high, "pairs": site.pairs, "battles": site.battles}


def _read(query: StatisticsQuery, bucket: Bucket) -> _Found:
    rows = MetricDay.objects.filter(
        metric__in=["site_battles", "site_people", "site_votes", "site_voters"], dim__in=["", "language", "category"],
        team=None, span=_SPANS[bucket], day__gte=start_of_bucket(query.first, bucket),
        day__lt=start_of_next(query.last, bucket),
    )  # fmt: skip
    found: dict[tuple[str, str], dict[str, dict[date, int]]] = defaultdict(lambda: defaultdict(dict))
    for metric, dim, key, start, n in rows.order_by().values_list("metric", "dim", "key", "day", "n"):
        found[metric, dim][key][start] = n
    return found


def _figure(
    figure: Figure, query: StatisticsQuery, found: _Found, categories: Mapping[str, str]
) -> StatisticsFigurePayload:
    bucket = query.bucket_of(figure)
    starts = starts_of_buckets(query.first, query.last, bucket)[-MAX_POINTS:]
    values = found.get((figure.metric, figure.dim), {})
    people = found.get((figure.people, figure.dim), {})
    keys = sorted(values, key=lambda key: (-sum(values[key].values()), key))[:MAX_LINES] if figure.dim else [""]
    few = {key: _few(of_key, people.get(key, {})) for key, of_key in values.items()}
    counted = {start for of_key in values.values() for start in of_key}
    withheld = _withheld(values, few) if figure.dim == "language" else {}
    lines: list[StatisticsLinePayload] = [
        {
            "key": key if figure.dim else None,
            "name": _name(figure, key, categories),
            "points": [
                _point(
                    start, None if withheld.get(start) == key else values.get(key, {}).get(start, 0),
                    is_few=start in few.get(key, ()), is_counted=start in counted and not figure.dim,
                    unfinished=start_of_next(start, bucket) > today(),
                )
                for start in starts
            ],
        }
        for key in keys
    ]  # fmt: skip
    shown = [line for line in lines if not figure.dim or any(point["value"] for point in line["points"])]
    return {
        "figure": figure.name,
        "definition": str(figure.definition),
        "bucket": bucket.value,
        "series": shown,
    }


def _few(values: Mapping[date, int], people: Mapping[date, int]) -> set[date]:
    """Return the buckets whose value is about fewer than MIN_PERSONS."""
    return {start for start, value in values.items() if value and people.get(start, 0) < MIN_PERSONS}


def _withheld(values: Mapping[str, Mapping[date, int]], few: Mapping[str, Collection[date]]) -> dict[date, str]:
    """Return the least of the other keys by bucket where only one is hidden: it is what all battles leave."""
    # Keys without a line count as shown, because other periods have other lines.
    shown: dict[date, list[str]] = defaultdict(list)
    hidden: dict[date, list[str]] = defaultdict(list)
    for key, of_key in values.items():
        for start in of_key:
            (hidden if start in few[key] else shown)[start].append(key)
    return {
        start: min((values[key][start], key) for key in shown[start])[1]
        for start, keys in hidden.items()
        if len(keys) == 1 and shown[start]
    }


def _point(
    start: date, value: int | None, *, is_few: bool, is_counted: bool, unfinished: bool
) -> StatisticsPointPayload:
    # The week and the month that have just begun are counted at night. Languages and categories wait for the end of the
    # week: two nights' numbers would tell what one person asked between them.
    is_shown = not is_few and (is_counted or not unfinished)
    point: StatisticsPointPayload = {"at": start.isoformat(), "value": value if is_shown else None}
    if is_few:
        point["few"] = True
    if unfinished:
        point["unfinished"] = True
    return point


def _name(figure: Figure, key: str, categories: Mapping[str, str]) -> str:
    match figure.dim:
        case "language":
            return language_name(key)
        case "category":
            return categories.get(key, key)
    return str(figure.title)


CSV_COLUMNS = ("figure", "key", "at", "value", "few", "unfinished")


def csv_rows(statistics: StatisticsPayload, name: str) -> Iterable[tuple[object, ...]]:
    """name: of one figure; else all."""
    for figure in statistics["figures"]:
        for line in figure["series"] if name in ("", figure["figure"]) else ():
            for point in line["points"]:
                is_few, unfinished = point.get("few", False), point.get("unfinished", False)
                yield figure["figure"], line["key"], point["at"], point["value"], is_few, unfinished
