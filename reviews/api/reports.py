from django.http import HttpResponse
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.views import APIView
from rest_framework.viewsets import ViewSet

from accounts.api.idempotency import idempotent
from accounts.models import Scope
from benchmarks.api.requests import actor_of, member_of, validated
from common.api_responses import Created, NoContent, PayloadResponse, paginated
from common.errors import NotFound
from common.payload_types import Page
from reviews.api.serializers import NewReportSerializer, ReadersSerializer
from reviews.models import DecisionReport
from reviews.reports import access, actions
from reviews.reports.files import CONTENT_TYPES, content_of
from reviews.reports.page import read_report_page
from reviews.reports.payload_types import ReportSummaryPayload
from reviews.reports.payloads import report_summary
from reviews.reports.sources import find_source


class ReportViewSet(ViewSet):
    scopes = {"POST": Scope.BENCHMARK, "DELETE": Scope.BENCHMARK}
    lookup_field = "public_id"
    lookup_value_regex = "[^/.]+"

    def _to_change(self) -> DecisionReport:
        return access.get_report_to_change_or_404(actor_of(self.request), self.kwargs["public_id"])

    def _payload(self) -> ReportSummaryPayload:
        actor = actor_of(self.request)
        return report_summary(access.get_report_or_404(actor, self.kwargs["public_id"]), actor)

    def list(self, request: Request) -> PayloadResponse[Page[ReportSummaryPayload]]:
        actor = actor_of(request)
        return paginated(access.own_reports(actor), request, lambda report: report_summary(report, actor))

    @idempotent
    def create(self, request: Request) -> Created[ReportSummaryPayload]:
        member, data = member_of(request), validated(NewReportSerializer(data=request.data))
        source = find_source(
            actor_of(request), run=data.get("run", ""), board=data.get("board", ""), team=data.get("team"),
            review=data.get("review", ""),
        )  # fmt: skip
        return Created(report_summary(source.store_report(member, data["question"]), actor_of(request)))

    def retrieve(self, request: Request, public_id: str) -> PayloadResponse[ReportSummaryPayload]:
        return PayloadResponse(self._payload())

    def destroy(self, request: Request, public_id: str) -> NoContent:
        actions.delete_report(self._to_change())
        return NoContent()

    @action(detail=True, methods=["post"])
    @idempotent
    def publish(self, request: Request, public_id: str) -> PayloadResponse[ReportSummaryPayload]:
        report = self._to_change()
        data = validated(ReadersSerializer(data=request.data))
        if data["readers"] == "none":
            actions.withdraw_report(report)
        else:
            actions.publish_report(report, with_names=data["readers"] == "names")
        return PayloadResponse(self._payload())


class ReportFile(APIView):
    def get(self, request: Request, public_id: str, ending: str) -> HttpResponse:
        actor = actor_of(request)
        report = access.get_report_or_404(actor, public_id)
        if ending not in CONTENT_TYPES:
            raise NotFound
        return HttpResponse(content_of(read_report_page(report, actor), ending), content_type=CONTENT_TYPES[ending])
