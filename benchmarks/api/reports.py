"""Reports of runs: stored, computed anew, published, compared, and downloaded."""

import msgspec
from django.http import StreamingHttpResponse
from django.utils.translation import gettext as _
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.views import APIView
from rest_framework.viewsets import ViewSet

from accounts.api.idempotency import idempotent
from accounts.models import Scope
from benchmarks import access, actions
from benchmarks.api.requests import actor_of, place_filter, validated
from benchmarks.api.serializers import PublishSerializer
from benchmarks.exports.formats import WRITERS
from benchmarks.exports.responses import export_response
from benchmarks.models import Run
from benchmarks.payload_types import ComparisonPayload, HeatMapPayload, RunPayload, RunReportPayload
from benchmarks.payloads import heat_map_payload, left_out_payload, report_payload, run_payload
from benchmarks.queries.run_progress import read_run_progress
from benchmarks.reports import run_changes
from benchmarks.reports.heat_map import read_heat_map
from benchmarks.reports.readable import find_report_or_so_far
from common.api_responses import PayloadResponse
from common.errors import InvalidInput, NotFound
from common.text.numbers import parse_whole_number


class RunReportViewSet(ViewSet):
    scopes = {"POST": Scope.BENCHMARK}
    lookup_field = "public_id"

    def get_object(self, *, to_change: bool = False) -> Run:
        return access.get_run_or_404(actor_of(self.request), self.kwargs["public_id"], to_change=to_change)

    def _changed(self) -> PayloadResponse[RunPayload]:
        run, request = self.get_object(), self.request
        return PayloadResponse(run_payload(read_run_progress(run), actor_of(request)))

    @action(detail=True, methods=["get"])
    def report(self, request: Request, public_id: str) -> PayloadResponse[RunReportPayload]:
        number = request.query_params.get("number", "")
        if number and parse_whole_number(number, max_digits=9) is None:
            raise InvalidInput(fields={"number": [_("A whole number.")]})
        report = find_report_or_so_far(actor_of(request), self.get_object(), number)
        if report is None:
            raise NotFound(_("The run has no such report."))
        return PayloadResponse(report_payload(report))

    @action(detail=True, methods=["get"])
    def compare(self, request: Request, public_id: str) -> PayloadResponse[ComparisonPayload]:
        run, wanted = self.get_object(), request.query_params.get("with", "")
        other = run_changes.comparable_runs(actor_of(request), run).filter(public_id=wanted.replace("\0", "")).first()
        if other is None or not run.reports.exists():
            raise NotFound(_("Choose another run of the template that has a report, too."))
        for compared in (run, other):
            access.read_answers(actor_of(request), compared)
        changes = run_changes.read_changes(run, other)
        payload: ComparisonPayload = {
            "older": changes.older.public_id,
            "newer": changes.newer.public_id,
            "left_out": [left_out_payload(of_run, entrant) for of_run, entrant in changes.left_out],
            "comparison": msgspec.to_builtins(changes.numbers),
        }
        return PayloadResponse(payload)

    @action(detail=True, methods=["post"])
    @idempotent
    def rescore(self, request: Request, public_id: str) -> PayloadResponse[RunPayload]:
        actions.rescore_run(self.get_object(to_change=True))
        return self._changed()

    @action(detail=True, methods=["post"])
    @idempotent
    def publish(self, request: Request, public_id: str) -> PayloadResponse[RunPayload]:
        run = access.get_run_to_publish_or_404(actor_of(request), public_id)
        data = validated(PublishSerializer(data=request.data))
        if data["readers"] == "none":
            actions.withdraw_run(run)
        else:
            actions.publish_run(run, with_names=data["readers"] == "names", number=data["number"])
        return self._changed()


class RunExport(APIView):
    def get(self, request: Request, public_id: str, ending: str) -> StreamingHttpResponse:
        run = access.get_run_with_answers_or_404(actor_of(request), public_id)
        if ending not in WRITERS:
            raise NotFound
        wide = request.query_params.get("wide", "")
        return export_response(run, ending, actor=actor_of(request), wide=wide)


class HeatMap(APIView):
    def get(self, request: Request) -> PayloadResponse[HeatMapPayload]:
        wanted = [public_id.replace("\0", "") for public_id in request.query_params.getlist("template")]
        heat_map = read_heat_map(
            actor_of(request), wanted, place=place_filter(request), with_average="average" in request.query_params
        )
        return PayloadResponse(heat_map_payload(heat_map))
