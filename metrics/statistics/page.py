"""The page of public statistics: each figure as chart, table and file."""

from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from urllib.parse import urlencode

from django.utils.formats import date_format, number_format
from django.utils.functional import Promise
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from metrics.catalogue import Bucket
from metrics.charts import Drawing, draw
from metrics.statistics.figures import FIGURES, Figure, StatisticsQuery, ending_today, read_statistics
from metrics.statistics.payload_types import (
    StatisticsAgreementPayload,
    StatisticsFigurePayload,
    StatisticsPointPayload,
)

# Periods that a link offers, in days, and their buckets.
PERIODS = ((28, Bucket.DAY), (90, Bucket.DAY), (365, Bucket.WEEK), (1095, Bucket.MONTH))


@dataclass(frozen=True)
class Row:
    at: str
    cells: list[str]
    is_unfinished: bool


@dataclass(frozen=True)
class DrawnFigure:
    """ticks: y and text. dates: x, text and anchor. rows: of the table, the latest first."""

    name: str
    title: Promise
    definition: str
    drawing: Drawing
    names: list[str]
    ticks: list[tuple[float, str]]
    dates: list[tuple[float, str, str]]
    rows: list[Row]
    csv_query: str
    has_values: bool


@dataclass(frozen=True)
class Period:
    days: int
    query: str
    is_current: bool


def read_page(query: StatisticsQuery) -> tuple[list[DrawnFigure], StatisticsAgreementPayload | None]:
    statistics = read_statistics(query)
    drawn = [_draw(figure, payload, query) for figure, payload in zip(FIGURES, statistics["figures"], strict=True)]
    return drawn, statistics["agreement"]


def _draw(figure: Figure, payload: StatisticsFigurePayload, query: StatisticsQuery) -> DrawnFigure:
    lines, bucket = payload["series"], Bucket(payload["bucket"])
    points = lines[0]["points"] if lines else []
    drawing = draw(
        [[None if point["value"] is None else float(point["value"]) for point in line["points"]] for line in lines],
        unfinished=bool(points and points[-1].get("unfinished")),
    )
    days = [_date_text(point["at"], bucket) for point in points]
    rows = [
        Row(day, [_text(line["points"][at]) for line in lines], bool(points[at].get("unfinished")))
        for at, day in enumerate(days)
    ]
    return DrawnFigure(
        figure.name, figure.title, payload["definition"], drawing,
        names=[line["name"] for line in lines],
        ticks=[(tick.at, _number(tick.value)) for tick in drawing.ticks],
        dates=[(x, days[at], "end" if at and at == len(days) - 1 else "middle") for x, at in drawing.dates],
        rows=rows[::-1],
        csv_query=urlencode({**_parameters(query), "figure": figure.name, "as": "csv"}),
        has_values=any(point["value"] for line in lines for point in line["points"]),
    )  # fmt: skip


def _text(point: StatisticsPointPayload) -> str:
    if point["value"] is None:
        return _("< 5") if point.get("few") else "–"
    return _number(point["value"])


def _number(value: float) -> str:
    return _number_in(get_language(), value)


@lru_cache(maxsize=10_000)
def _number_in(_language: str | None, value: float) -> str:
    shown = int(value) if value == int(value) else round(value, 1)
    return number_format(shown, use_l10n=True, force_grouping=True)


def _date_text(at: str, bucket: Bucket) -> str:
    return _date_text_in(get_language(), at, bucket)


@lru_cache(maxsize=10_000)
def _date_text_in(_language: str | None, at: str, bucket: Bucket) -> str:
    return date_format(date.fromisoformat(at), "F Y" if bucket is Bucket.MONTH else "SHORT_DATE_FORMAT")


def _parameters(query: StatisticsQuery) -> dict[str, str]:
    return {"from": query.first.isoformat(), "to": query.last.isoformat(), "bucket": query.bucket.value}


def period_links(query: StatisticsQuery) -> list[Period]:
    ending = [(days, ending_today(days, bucket)) for days, bucket in PERIODS]
    return [Period(days, urlencode(_parameters(each)), each == query) for days, each in ending]
