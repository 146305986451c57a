"""The page of public statistics: each figure as chart, table and file."""

from urllib.parse import urlencode

from django.utils.translation import gettext as _

from metrics.catalogue import Bucket
from metrics.charts import draw
from metrics.drawn import Cell, DrawnChart, Row
from metrics.periods import period_parameters
from metrics.statistics.figures import FIGURES, Figure, StatisticsQuery, read_statistics
from metrics.statistics.payload_types import (
    StatisticsAgreementPayload,
    StatisticsFigurePayload,
    StatisticsPointPayload,
)
from metrics.texts import axis_dates, day_text, number_text


def read_page(query: StatisticsQuery) -> tuple[list[DrawnChart], StatisticsAgreementPayload | None]:
    statistics = read_statistics(query)
    drawn = [_draw(figure, payload, query) for figure, payload in zip(FIGURES, statistics["figures"], strict=True)]
    return drawn, statistics["agreement"]


def _draw(figure: Figure, payload: StatisticsFigurePayload, query: StatisticsQuery) -> DrawnChart:
    lines, bucket = payload["series"], Bucket(payload["bucket"])
    points = lines[0]["points"] if lines else []
    drawing = draw(
        [[None if point["value"] is None else float(point["value"]) for point in line["points"]] for line in lines],
        unfinished=bool(points and points[-1].get("unfinished")),
    )
    days = [day_text(point["at"], bucket) for point in points]
    rows = [
        Row(day, bool(points[at].get("unfinished")), [Cell(_text(line["points"][at])) for line in lines])
        for at, day in enumerate(days)
    ]
    period = period_parameters(query.first, query.last, query.bucket)
    return DrawnChart(
        figure.name, figure.title, [payload["definition"]], drawing,
        names=[line["name"] for line in lines],
        ticks=[(tick.at, number_text(tick.value)) for tick in drawing.ticks],
        dates=axis_dates(drawing, days),
        rows=rows[::-1],
        csv=[(figure.title, urlencode({**period, "figure": figure.name, "as": "csv"}))],
        has_values=any(point["value"] for line in lines for point in line["points"]),
    )  # fmt: skip


def _text(point: StatisticsPointPayload) -> str:
    if point["value"] is None:
        return _("< 5") if point.get("few") else "–"
    return number_text(point["value"])
