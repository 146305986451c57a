"""Judges, and their judgements of a run."""

from decimal import Decimal
from typing import cast

import msgspec
from django.http import StreamingHttpResponse
from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.utils.urls import replace_query_param
from rest_framework.views import APIView
from rest_framework.viewsets import ViewSet

from accounts.api.idempotency import idempotent
from accounts.models import Scope, Team
from accounts.teams.places import place_named
from benchmarks import access
from benchmarks.actions.run_limit import counted_run
from benchmarks.api.requests import actor_of, member_of, place_filter, validated
from benchmarks.api.serializers import ObjectField, ParametersField, place_field
from benchmarks.errors import RunNotPossible
from benchmarks.exports.judgements import judgements_response
from benchmarks.judges.actions import (
    MAX_PAIRS_PER_CASE,
    PARAMETERS,
    JudgeContent,
    JudgingRequest,
    archive_judge,
    create_judge,
    edit_judge,
    start_judging,
)
from benchmarks.judges.estimates import estimate_judging
from benchmarks.judges.listing import judgements_of, read_rows
from benchmarks.judges.payloads import (
    JudgementPagePayload,
    JudgePayload,
    JudgingEstimatePayload,
    JudgingPayload,
    estimate_payload,
    judge_payload,
    judgement_payload,
    judging_payload,
    jury_payload,
    result_payload,
)
from benchmarks.judges.results import judges_of, read_jury, read_results, read_styled_board
from benchmarks.judging.rubrics import Rubric
from benchmarks.models import Judge, Judging, Run
from common.api.fields import ChoiceField
from common.api.pagination import ArenaPagination
from common.api_responses import Accepted, Created, PayloadResponse, paginated
from common.errors import InvalidInput, NotFound
from common.payload_types import JsonObject, Page
from common.tables.writers import WRITERS
from common.text.numbers import parse_whole_number
from models_registry.models import LanguageModel


class NewJudgeSerializer(serializers.Serializer[None]):
    """rubric: `kind` is `pairwise` or `scores`; with `criteria`, which `scores` needs."""

    name = serializers.CharField(max_length=120)
    team = place_field()
    model = serializers.CharField(max_length=LanguageModel.MAX_NAME)
    rubric = ObjectField()
    parameters = ParametersField(default=dict(PARAMETERS))
    own_family = ChoiceField(choices=Judge.OwnFamily.choices, default=Judge.OwnFamily.EXCLUDE)

    def validate_rubric(self, rubric: JsonObject) -> Rubric:
        try:
            return msgspec.convert(rubric, Rubric)
        except ValueError as error:
            raise serializers.ValidationError(_("The rubric is not usable: %(reason)s.") % {"reason": error}) from error


class ChangeJudgeSerializer(NewJudgeSerializer):
    archived = serializers.BooleanField(default=False)


class _MoneySerializer(serializers.Serializer[None]):
    budget = serializers.DecimalField(
        max_digits=14, decimal_places=8, min_value=Decimal("0.00000001"), allow_null=True, default=None
    )


class NewCardSerializer(_MoneySerializer):
    """run: whose answers the control pairs are made from."""

    run = serializers.CharField(max_length=40)


class EstimatedJudgingSerializer(serializers.Serializer[None]):
    """card: null for a judge that has none yet."""

    judge = serializers.CharField(max_length=40)
    pairs = ChoiceField(choices=Judging.Plan.choices, required=False)
    pairs_per_case = serializers.IntegerField(min_value=1, max_value=MAX_PAIRS_PER_CASE, allow_null=True, default=None)
    scores = serializers.BooleanField(required=False)
    orders = ChoiceField(choices=Judging.Orders.choices, default=Judging.Orders.BOTH)
    card = serializers.BooleanField(allow_null=True, default=None)


class NewJudgingSerializer(EstimatedJudgingSerializer, _MoneySerializer):
    start = serializers.BooleanField(default=True)


class JudgeViewSet(ViewSet):
    scopes = {"POST": Scope.BENCHMARK, "PUT": Scope.BENCHMARK}
    lookup_field = "public_id"

    def get_object(self, *, to_edit: bool = False) -> Judge:
        return access.get_judge_or_404(actor_of(self.request), self.kwargs["public_id"], to_edit=to_edit)

    def list(self, request: Request) -> PayloadResponse[Page[JudgePayload]]:
        actor, judges = actor_of(request), access.readable_judges(actor_of(request)).filter(archived_at=None)
        if "team" in request.query_params:
            judges = judges.filter(team=place_filter(request))
        judges = judges.select_related("model__team", "team").order_by("-pk")
        return paginated(judges, request, lambda judge: judge_payload(judge, actor))

    @idempotent
    def create(self, request: Request) -> Created[JudgePayload]:
        member, data = member_of(request), validated(NewJudgeSerializer(data=request.data))
        place = place_named(actor_of(request), data.get("team"))
        judge = create_judge(owner=member, team=place, content=_content(data, place))
        return Created(self._payload(judge))

    def retrieve(self, request: Request, public_id: str) -> PayloadResponse[JudgePayload]:
        return PayloadResponse(self._payload(self.get_object()))

    def update(self, request: Request, public_id: str) -> PayloadResponse[JudgePayload]:
        judge, data = self.get_object(to_edit=True), validated(ChangeJudgeSerializer(data=request.data))
        changed = edit_judge(judge, _content(data, judge.team))
        if data["archived"]:
            archive_judge(changed)
        return PayloadResponse(self._payload(changed))

    @action(detail=True, methods=["post"])
    @idempotent
    def card(self, request: Request, public_id: str) -> Accepted[JudgingPayload]:
        judge, actor, member = self.get_object(), actor_of(request), member_of(request)
        data = validated(NewCardSerializer(data=request.data))
        run = access.get_judged_run_or_404(actor, data["run"], to_judge=True)
        with counted_run(actor):
            judging = start_judging(JudgingRequest(judge, run, is_card=True), owner=member, budget=data["budget"])
        return Accepted(_judging_payload(judging))

    def _payload(self, judge: Judge) -> JudgePayload:
        judge = Judge.objects.select_related("model__team", "team").get(pk=judge.pk)
        return judge_payload(judge, actor_of(self.request))


class JudgementViewSet(ViewSet):
    scopes = {"POST": Scope.BENCHMARK}
    lookup_field = "public_id"

    def get_object(self) -> Run:
        return access.get_judged_run_or_404(actor_of(self.request), self.kwargs["public_id"], to_judge=True)

    @action(detail=True, methods=["get"])
    def judgements(self, request: Request, public_id: str) -> PayloadResponse[JudgementPagePayload]:
        actor, params = actor_of(request), request.query_params
        run = access.get_judged_answers_or_404(actor, public_id)
        judge = _chosen_judge(request)
        judgements = judgements_of(run, judge, controls="controls" in params)
        if "cursor" in params:
            judgements = judgements.filter(pk__gt=_number(params["cursor"]))
        limit = ArenaPagination().get_limit(request)
        related = ("item", "judge__model", "first_reply", "second_reply")
        page = list(judgements.select_related(*related)[: limit + 1])
        url = request.build_absolute_uri()
        payload: JudgementPagePayload = {
            "count": None,
            "next": replace_query_param(url, "cursor", page[limit - 1].pk) if len(page) > limit else None,
            "previous": None,
            "results": [judgement_payload(row) for row in read_rows(run, page[:limit])],
            "judgings": [],
            "judges": [],
            "jury": None,
        }
        if "cursor" not in params:
            judges = judges_of(run) if judge is None else [judge]
            jury = read_jury(run, judges)
            judgings = run.judgings.select_related("judge", "run").order_by("-pk")
            payload["judgings"] = [judging_payload(judging) for judging in judgings]
            is_styled = "style" in params
            payload["judges"] = [
                result_payload(result, actor, read_styled_board(run, result.judge) if is_styled else None)
                for result in read_results(run, judges)
            ]
            payload["jury"] = None if jury is None else jury_payload(jury, run)
        return PayloadResponse(payload)

    @judgements.mapping.post
    @idempotent
    def judge(self, request: Request, public_id: str) -> Accepted[JudgingPayload]:
        run, member = self.get_object(), member_of(request)
        data = validated(NewJudgingSerializer(data=request.data))
        wanted = _judging_request(request, run, data)
        with counted_run(actor_of(request)):
            judging = start_judging(wanted, owner=member, budget=data["budget"], starts_at_once=data["start"])
        return Accepted(_judging_payload(judging))

    @action(detail=True, methods=["post"], url_path="judgements/estimate")
    @idempotent
    def estimate(self, request: Request, public_id: str) -> PayloadResponse[JudgingEstimatePayload]:
        run = self.get_object()
        wanted = _judging_request(request, run, validated(EstimatedJudgingSerializer(data=request.data)))
        return PayloadResponse(estimate_payload(estimate_judging(wanted.judging())))


class JudgementExport(APIView):
    def get(self, request: Request, public_id: str, ending: str) -> StreamingHttpResponse:
        run = access.get_judged_answers_or_404(actor_of(request), public_id)
        if ending not in WRITERS:
            raise NotFound
        return judgements_response(run, ending, actor=actor_of(request), judge=_chosen_judge(request))


def _content(data: JsonObject, place: Team | None) -> JudgeContent:
    models = LanguageModel.objects.in_place(None if place is None else place.pk).public()
    name = data["model"]
    found = [
        model for model in models.filter(slug=name.rpartition("~")[2]).select_related("team") if name in model.slugs
    ]
    if not found:
        raise RunNotPossible(fields={"model": [_("There is no model “%(id)s”.") % {"id": name}]})
    model = max(found, key=lambda each: each.status == LanguageModel.Status.ACTIVE)
    return JudgeContent(data["name"], model, cast(Rubric, data["rubric"]), data["parameters"], data["own_family"])


def _judging_request(request: Request, run: Run, data: JsonObject) -> JudgingRequest:
    judge = access.get_judge_or_404(actor_of(request), data["judge"])
    is_pairwise = judge.kind == Judge.Kind.PAIRWISE
    if data.get("scores", not is_pairwise) is is_pairwise:
        raise InvalidInput(
            fields={"scores": [_("This judge compares pairs.") if is_pairwise else _("This judge grades.")]}
        )
    if not is_pairwise and "pairs" in data:
        raise InvalidInput(fields={"pairs": [_("This judge grades.")]})
    return JudgingRequest(
        judge, run, data.get("pairs", Judging.Plan.ALL), data["pairs_per_case"], data["orders"], data["card"]
    )


def _judging_payload(judging: Judging) -> JudgingPayload:
    return judging_payload(Judging.objects.select_related("judge", "run").get(pk=judging.pk))


def _chosen_judge(request: Request) -> Judge | None:
    wanted = request.query_params.get("judge", "").replace("\0", "")
    return access.get_judge_or_404(actor_of(request), wanted) if wanted else None


def _number(value: str) -> int:
    number = parse_whole_number(value)
    if number is None:
        raise InvalidInput(fields={"cursor": [_("A whole number.")]})
    return number
