from collections.abc import Callable, Collection
from functools import partial
from typing import cast

from django.http import HttpResponse
from django.utils.translation import gettext as _
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.utils.urls import replace_query_param
from rest_framework.views import APIView
from rest_framework.viewsets import ViewSet

from accounts.api.idempotency import idempotent
from accounts.models import Scope, Team
from benchmarks import access, actions, streaming
from benchmarks.actions import EntrantRequest
from benchmarks.actions.run_limit import counted_run
from benchmarks.api.items import read_items
from benchmarks.api.requests import actor_of, member_of, validated
from benchmarks.api.serializers import (
    ChangeRunSerializer,
    EstimatedRunSerializer,
    LeaveOutSerializer,
    NewGradeSerializer,
    NewRunSerializer,
)
from benchmarks.api.templates import find_version
from benchmarks.errors import RunNotPossible
from benchmarks.estimates import estimate
from benchmarks.models import Prompt, Run, RunItem, TemplateVersion
from benchmarks.payload_types import (
    EstimatePayload,
    GradePayload,
    ItemDetailPayload,
    ItemPagePayload,
    RunPayload,
    RunSummaryPayload,
)
from benchmarks.payloads import (
    ITEM_ID_PREFIX,
    estimate_payload,
    grade_payload,
    item_detail,
    item_payload,
    run_payload,
    run_summary,
    stream_url,
)
from benchmarks.queries.answers import read_item
from benchmarks.queries.listing import ListForm, list_runs, progress_of
from benchmarks.queries.run_progress import read_run_progress
from benchmarks.reports.power import read_power
from common.api.pagination import ArenaPagination
from common.api_responses import Accepted, Created, PayloadResponse, paginated_together
from common.errors import InvalidInput, NotFound
from common.payload_types import JsonObject, Page
from common.text.numbers import parse_whole_number
from models_registry.models import LanguageModel


class Estimate(APIView):
    scopes = {"POST": Scope.BENCHMARK}

    @idempotent
    def post(self, request: Request) -> PayloadResponse[EstimatePayload]:
        serializer = EstimatedRunSerializer(data=request.data)
        data = validated(serializer)
        version = _version(request, data)
        entrants = _entrants(version, serializer, _place(request, version, data))
        estimated = estimate(
            version, [(entrant.model, cast(Prompt, entrant.prompt)) for entrant in entrants],
            repeats=data["repeats"], parameters=data["parameters"], concurrency=data["concurrency"],
        )  # fmt: skip
        prompts = [cast(Prompt, entrant.prompt).position + 1 for entrant in entrants]
        return PayloadResponse(estimate_payload(estimated, prompts, read_power(actor_of(request), version)))


class RunViewSet(ViewSet):
    scopes = {"POST": Scope.BENCHMARK, "PATCH": Scope.BENCHMARK}
    lookup_field = "public_id"

    def get_object(self, *, to_change: bool = False) -> Run:
        return access.get_run_or_404(actor_of(self.request), self.kwargs["public_id"], to_change=to_change)

    def _payload(self, run: Run) -> RunPayload:
        return run_payload(read_run_progress(run), actor_of(self.request))

    def list(self, request: Request) -> PayloadResponse[Page[RunSummaryPayload]]:
        form, actor = ListForm(request.query_params, actor_of(request)), actor_of(request)
        form.full_clean()

        def summaries(runs: list[Run]) -> list[RunSummaryPayload]:
            progress = progress_of(runs)
            return [run_summary(run, actor, progress[run.pk]) for run in runs]

        return paginated_together(list_runs(actor, form), request, summaries)

    @idempotent
    def create(self, request: Request) -> Accepted[RunPayload]:
        member, serializer = member_of(request), NewRunSerializer(data=request.data)
        data = validated(serializer)
        version = _version(request, data)
        place = _place(request, version, data)
        with counted_run(actor_of(request)):
            run = actions.create_run(
                owner=member, version=version, team=place, entrants=_entrants(version, serializer, place),
                name=data["name"],
                repeats=data["repeats"], concurrency=data["concurrency"], attempts=data["attempts"],
                budget=data["budget"], reuse_days=data["reuse_days"], starts_at_once=data["start"],
            )  # fmt: skip
        run.refresh_from_db()
        return Accepted(self._payload(run))

    def retrieve(self, request: Request, public_id: str) -> PayloadResponse[RunPayload]:
        return PayloadResponse(self._payload(self.get_object()))

    def partial_update(self, request: Request, public_id: str) -> PayloadResponse[RunPayload]:
        run = self.get_object(to_change=True)
        changes = validated(ChangeRunSerializer(data=request.data))
        if "budget" in changes:
            actions.raise_budget(run, to=changes["budget"])
        if "name" in changes:
            actions.rename_run(run, changes["name"])
        return PayloadResponse(self._payload(self.get_object()))

    def _move(self, change: Callable[[Run], Run]) -> PayloadResponse[RunPayload]:
        run = change(self.get_object(to_change=True))
        streaming.publish(run.pk)
        return PayloadResponse(self._payload(self.get_object()))

    @action(detail=True, methods=["post"])
    @idempotent
    def start(self, request: Request, public_id: str) -> PayloadResponse[RunPayload]:
        return self._move(actions.start_run)

    @action(detail=True, methods=["post"])
    @idempotent
    def pause(self, request: Request, public_id: str) -> PayloadResponse[RunPayload]:
        return self._move(actions.pause_run)

    @action(detail=True, methods=["post"])
    @idempotent
    def resume(self, request: Request, public_id: str) -> PayloadResponse[RunPayload]:
        return self._move(actions.resume_run)

    @action(detail=True, methods=["post"])
    @idempotent
    def cancel(self, request: Request, public_id: str) -> PayloadResponse[RunPayload]:
        return self._move(actions.cancel_run)

    @action(detail=True, methods=["post"])
    @idempotent
    def retry(self, request: Request, public_id: str) -> PayloadResponse[RunPayload]:
        return self._move(actions.retry_failed)

    @action(detail=True, methods=["post"], url_path="leave-out")
    @idempotent
    def leave_out(self, request: Request, public_id: str) -> PayloadResponse[RunPayload]:
        run, number = self.get_object(to_change=True), validated(LeaveOutSerializer(data=request.data))["entrant"]
        entrant = run.entrants.filter(pk=number).first()
        if entrant is None:
            raise InvalidInput(fields={"entrant": [_("The run has no such entrant.")]})
        return self._move(partial(actions.leave_out, entrant=entrant, by=member_of(request)))

    @action(detail=True, methods=["get"])
    def items(self, request: Request, public_id: str) -> PayloadResponse[ItemPagePayload]:
        run, params = access.get_run_with_answers_or_404(actor_of(request), public_id), request.query_params
        shows_contents = access.shows_contents_of(actor_of(request), run)
        page = read_items(run, params, limit=ArenaPagination().get_limit(request), is_searchable=shows_contents)
        url = request.build_absolute_uri()
        payload: ItemPagePayload = {
            "count": None,
            "next": replace_query_param(url, "cursor", page.next) if page.next else None,
            "previous": None,
            "results": [item_payload(item, run) for item in page.items],
        }
        return PayloadResponse(payload)

    @action(detail=True, methods=["get"])
    def stream(self, request: Request, public_id: str) -> HttpResponse:
        """Redirect (307) to a live run's events; 404 once it has ended."""
        url = stream_url(self.get_object(), actor_of(request))
        if url is None:
            raise NotFound(_("The run has ended; fetch it."))
        return HttpResponse(status=307, headers={"Location": url})


class ItemViewSet(ViewSet):
    scopes = {"POST": Scope.BENCHMARK}
    lookup_field = "public_id"

    def _find(self, *, to_grade: bool = False) -> tuple[Run, int]:
        """Return the run and the item's number."""
        actor, public_id = actor_of(self.request), self.kwargs["public_id"]
        number = parse_whole_number(public_id[ITEM_ID_PREFIX + 1 :])
        find_run = access.get_run_to_grade_or_404 if to_grade else access.get_run_with_answers_or_404
        run = find_run(actor, public_id[:ITEM_ID_PREFIX])
        if number is None or public_id[ITEM_ID_PREFIX] != "-" or not access.shows_contents_of(actor, run):
            raise NotFound
        return run, number

    def retrieve(self, request: Request, public_id: str) -> PayloadResponse[ItemDetailPayload]:
        run, number = self._find()
        page = read_item(run, number)
        if page is None:
            raise NotFound
        return PayloadResponse(item_detail(page, run))

    @action(detail=True, methods=["post"])
    @idempotent
    def grade(self, request: Request, public_id: str) -> Created[GradePayload]:
        run, number = self._find(to_grade=True)
        data = validated(NewGradeSerializer(data=request.data))
        item = RunItem.objects.filter(entrant__run=run, pk=number).first()
        if item is None:
            raise NotFound
        grade = actions.grade_item(grader=member_of(request), item=item, **data)
        grade.refresh_from_db(fields=["created_at"])
        return Created(grade_payload(grade))


def _version(request: Request, data: JsonObject) -> TemplateVersion:
    template = access.get_template_or_404(actor_of(request), data["template"])
    return find_version(template, actor_of(request), data.get("version"))


def _place(request: Request, version: TemplateVersion, data: JsonObject) -> Team | None:
    return access.place_of_run(actor_of(request), version.template, data.get("team"))


def _entrants(version: TemplateVersion, serializer: EstimatedRunSerializer, place: Team | None) -> list[EntrantRequest]:
    """Raises InvalidInput without entrants, RunNotPossible for unknown models and prompts."""
    sent, common = serializer.entrants_sent, serializer.validated_data["parameters"]
    if not 1 <= len(sent) <= Run.MAX_ENTRANTS:
        raise InvalidInput(fields={"entrants": [_("Choose a number from 1 to %(most)s.") % {"most": Run.MAX_ENTRANTS}]})
    by_slug, prompts = models_by_name({entrant["model"] for entrant in sent}, place), list(version.prompts.all())
    problems: dict[str, list[str]] = {}
    for entrant in sent:
        if entrant["model"] not in by_slug:
            problems[entrant["model"]] = [_("There is no model “%(id)s”.") % {"id": entrant["model"]}]
        if entrant["prompt"] > len(prompts):
            problems["prompt"] = [_("The template has no prompt %(number)s.") % {"number": entrant["prompt"]}]
    if problems:
        raise RunNotPossible(fields=problems)
    return [
        EntrantRequest(
            by_slug[entrant["model"]], prompts[entrant["prompt"] - 1], common | entrant["parameters"],
            label=prompts[entrant["prompt"] - 1].label if len(prompts) > 1 else "", is_baseline=entrant["is_baseline"],
        )
        for entrant in sent
    ]  # fmt: skip


def models_by_name(names: Collection[str], place: Team | None) -> dict[str, LanguageModel]:
    """Return listed models of a place by their slugs; of two with a slug, the active one."""
    slugs = {name.rpartition("~")[2] for name in names}
    models = LanguageModel.objects.in_place(None if place is None else place.pk).public().filter(slug__in=slugs)
    ordered = sorted(models, key=lambda model: model.status == LanguageModel.Status.ACTIVE)
    return {name: model for model in ordered for name in model.slugs}
