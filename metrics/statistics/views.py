from collections.abc import Sequence
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe
from rest_framework.request import Request
from rest_framework.views import APIView

from common.api_responses import PayloadResponse
from common.caching import public
from common.errors import InvalidInput
from metrics.catalogue import Bucket
from metrics.charts import draw
from metrics.csv_file import csv_response
from metrics.drawn import Cell, DrawnChart, Row
from metrics.periods import period_links, period_parameters
from metrics.statistics.figures import (
    CSV_COLUMNS,
    FIGURES,
    Figure,
    StatisticsQuery,
    csv_rows,
    read_statistics,
    require_public,
)
from metrics.statistics.payload_types import (
    StatisticsAgreementPayload,
    StatisticsFigurePayload,
    StatisticsPayload,
    StatisticsPointPayload,
)
from metrics.texts import axis_dates, day_text, number_text

FORMATS = ("json", "csv")
_NAMES: list[str] = [figure.name for figure in FIGURES]


def _choice(name: str, value: str, choices: Sequence[str]) -> str:
    """Return the value. Raises InvalidInput."""
    if value not in choices:
        sentence = _("Choose one of: %(choices)s.") % {"choices": ", ".join(filter(None, choices))}
        raise InvalidInput(fields={name: [sentence]})
    return value


def _csv_response(statistics: StatisticsPayload, figure: str) -> HttpResponse:
    """figure: the name of one; "" for all."""
    return csv_response(figure or "statistics", CSV_COLUMNS, csv_rows(statistics, figure))


@public
@require_safe
def statistics(request: HttpRequest) -> HttpResponse:
    require_public()
    query = StatisticsQuery.read(request.GET.dict())
    if request.GET.get("as") == "csv":
        return _csv_response(read_statistics(query), _choice("figure", request.GET.get("figure", ""), ["", *_NAMES]))
    charts, agreement = _read_page(query)
    context = {
        "query": query,
        "charts": charts,
        "agreement": agreement,
        "periods": period_links(query, {}),
        "buckets": [(Bucket.DAY, _("day")), (Bucket.WEEK, _("week")), (Bucket.MONTH, _("month"))],
    }
    return render(request, "metrics/statistics.html", context)


def _read_page(query: StatisticsQuery) -> tuple[list[DrawnChart], StatisticsAgreementPayload | None]:
    statistics = read_statistics(query)
    drawn = [_draw(figure, payload, query) for figure, payload in zip(FIGURES, statistics["figures"], strict=True)]
    return drawn, statistics["agreement"]


def _draw(figure: Figure, payload: StatisticsFigurePayload, query: StatisticsQuery) -> DrawnChart:
    lines, bucket = payload["series"], Bucket(payload["bucket"])
    points = lines[0]["points"] if lines else []
    drawing = draw(
        [[None if point["value"] is None else float(point["value"]) for point in line["points"]] for line in lines],
        unfinished=[int(line["points"][-1].get("unfinished", False)) for line in lines],
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


@method_decorator(public, name="dispatch")
class Statistics(APIView):
    def get(self, request: Request) -> PayloadResponse[StatisticsPayload] | HttpResponse:
        require_public()
        data = request.query_params.dict()
        file_format = _choice("as", data.get("as", "json"), FORMATS)
        figure = _choice("figure", data.get("figure", ""), ["", *_NAMES])
        found = read_statistics(StatisticsQuery.read(data))
        if file_format == "csv":
            return _csv_response(found, figure)
        figures = [each for each in found["figures"] if figure in ("", each["figure"])]
        return PayloadResponse({**found, "figures": figures})
