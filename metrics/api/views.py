from typing import cast

from django.http import HttpResponse
from django.utils.translation import gettext as _
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.actor import ActorRequest
from accounts.models import Scope
from common.api_responses import PayloadResponse
from common.errors import InvalidInput
from metrics.access import readable_team, require_model_figures
from metrics.catalogue import METRICS
from metrics.csv_file import series_as_csv
from metrics.payload_types import CataloguePayload, MetricSeriesPayload
from metrics.series import SeriesQuery, metric_payload, read_series

FORMATS = ("json", "csv")


class Metrics(APIView):
    scopes = {"GET": Scope.METRICS}

    def get(self, request: Request) -> PayloadResponse[MetricSeriesPayload] | HttpResponse:
        actor, data = cast(ActorRequest, request._request).actor, request.query_params.dict()
        query = SeriesQuery.read(data, readable_team(actor, data.get("team", "")))
        if query.reads_models:
            require_model_figures(actor)
        file_format = data.get("as", "json")
        if file_format not in FORMATS:
            raise InvalidInput(fields={"as": [_("Choose one of: %(choices)s.") % {"choices": ", ".join(FORMATS)}]})
        series = read_series(query)
        return series_as_csv(series) if file_format == "csv" else PayloadResponse(series)


class Catalogue(APIView):
    scopes = {"GET": Scope.METRICS}

    def get(self, request: Request) -> PayloadResponse[CataloguePayload]:
        readable_team(cast(ActorRequest, request._request).actor, request.query_params.get("team", ""))
        return PayloadResponse({"metrics": [metric_payload(metric) for metric in METRICS]})
