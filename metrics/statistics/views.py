from collections.abc import Sequence

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
from metrics.csv_file import csv_response
from metrics.periods import period_links
from metrics.statistics.figures import (
    CSV_COLUMNS,
    FIGURES,
    StatisticsQuery,
    csv_rows,
    read_statistics,
    require_public,
)
from metrics.statistics.page import read_page
from metrics.statistics.payload_types import StatisticsPayload

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
    charts, agreement = read_page(query)
    context = {
        "query": query,
        "charts": charts,
        "agreement": agreement,
        "periods": period_links(query, {}),
        "buckets": [(Bucket.DAY, _("day")), (Bucket.WEEK, _("week")), (Bucket.MONTH, _("month"))],
    }
    return render(request, "metrics/statistics.html", context)


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
