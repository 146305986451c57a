from collections.abc import Callable
from typing import cast

from django.db import transaction
from django.http import StreamingHttpResponse
from django.utils.translation import gettext as _
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.views import APIView
from rest_framework.viewsets import ViewSet

from accounts.actor import ActorRequest, ensure_known_actor, network_limit_keys
from accounts.api.idempotency import idempotent
from accounts.models import Scope, User
from accounts.teams.places import place_named
from battles.payload_types import BattlePayload
from battles.payloads import payload_for
from battles.queries import find_battle, get_battle
from benchmarks import access as runs
from benchmarks.actions.run_limit import counted_run
from benchmarks.api.requests import actor_of, member_of, validated
from benchmarks.api.runs import models_by_name
from common.api_responses import Created, NoContent, PayloadResponse, paginated_together
from common.errors import InvalidInput, NotAllowed, NotFound
from common.payload_types import JsonObject, Page
from common.tables.writers import WRITERS
from reviews import access, actions
from reviews.agreement.payload_types import ReviewAgreementPayload
from reviews.agreement.payloads import review_agreement_payload
from reviews.agreement.results import read_agreement
from reviews.answers import read_answers
from reviews.api.serializers import (
    JoinSerializer,
    NewReviewGradeSerializer,
    NewReviewSerializer,
    ReviewTermsSerializer,
)
from reviews.boards import read_review_board
from reviews.exports import opinions_response
from reviews.grading.payloads import answer_to_grade_payload
from reviews.grading.showing import read_shown
from reviews.models import Review
from reviews.payload_types import (
    AnswerToGradePayload,
    GivenGradePayload,
    ReviewPayload,
    ReviewProgressPayload,
    ReviewResultsPayload,
)
from reviews.payloads import CONTRASTS, progress_payload, results_payload, review_payload
from reviews.queries import read_progress, read_totals, voted_by
from reviews.second_opinions.actions import ask_others


class ReviewViewSet(ViewSet):
    scopes = {"POST": Scope.BENCHMARK, "PATCH": Scope.BENCHMARK}
    lookup_field = "public_id"

    def get_object(self, *, to_change: bool = False) -> Review:
        return access.get_review_or_404(actor_of(self.request), self.kwargs["public_id"], to_change=to_change)

    def _payload(self, review: Review) -> ReviewPayload:
        actor = actor_of(self.request)
        return review_payload(review, actor, voted=voted_by(actor, [review])[review.pk])

    def list(self, request: Request) -> PayloadResponse[Page[ReviewPayload]]:
        actor = actor_of(request)
        listed = access.listed_reviews(actor).select_related("run", "team", "battle").prefetch_related(CONTRASTS)
        reviews = listed.order_by("-created_at", "-pk")

        def payloads(page: list[Review]) -> list[ReviewPayload]:
            voted = voted_by(actor, page)
            return [review_payload(review, actor, voted=voted[review.pk]) for review in page]

        return paginated_together(reviews, request, payloads)

    @idempotent
    def create(self, request: Request) -> Created[ReviewPayload]:
        member, data = member_of(request), validated(NewReviewSerializer(data=request.data))
        asked = {name: data.pop(name, None) for name in ("prompts", "models", "team", "budget", "reuse_days")}
        if asked["prompts"] is not None:
            return Created(self._payload(_ask_models_first(request, member, asked, data)))
        run = runs.get_run_or_404(actor_of(request), data.pop("run"))
        if not runs.may_change(actor_of(request), run):
            raise NotAllowed if runs.team_of(actor_of(request), run) is not None else NotFound
        opens = data.pop("open")
        with transaction.atomic():
            review = actions.create_review(owner=member, run=run, **data)
            if opens:
                review = actions.open_review(review)
        return Created(self._payload(review))

    def retrieve(self, request: Request, public_id: str) -> PayloadResponse[ReviewPayload]:
        return PayloadResponse(self._payload(self.get_object()))

    def partial_update(self, request: Request, public_id: str) -> PayloadResponse[ReviewPayload]:
        review = self.get_object(to_change=True)
        actions.change_review(review, **validated(ReviewTermsSerializer(data=request.data)))
        return PayloadResponse(self._payload(self.get_object()))

    def _move(self, change: Callable[[Review], Review]) -> PayloadResponse[ReviewPayload]:
        change(self.get_object(to_change=True))
        return PayloadResponse(self._payload(self.get_object()))

    @action(detail=True, methods=["post"])
    @idempotent
    def open(self, request: Request, public_id: str) -> PayloadResponse[ReviewPayload]:
        return self._move(actions.open_review)

    @action(detail=True, methods=["post"])
    @idempotent
    def close(self, request: Request, public_id: str) -> PayloadResponse[ReviewPayload]:
        return self._move(actions.close_review)

    @action(detail=True, methods=["post"])
    @idempotent
    def withdraw(self, request: Request, public_id: str) -> PayloadResponse[ReviewPayload]:
        return self._move(actions.withdraw_review)

    @action(detail=True, methods=["get"])
    def progress(self, request: Request, public_id: str) -> PayloadResponse[ReviewProgressPayload]:
        review = self.get_object(to_change=True)
        return PayloadResponse(progress_payload(read_progress(review)))

    @action(detail=True, methods=["get"])
    def results(self, request: Request, public_id: str) -> PayloadResponse[ReviewResultsPayload]:
        review = self.get_object()
        access.require_results(actor_of(request), review)
        return PayloadResponse(
            results_payload(review, read_totals(review), read_review_board(review), read_answers(review))
        )

    @action(detail=True, methods=["get"])
    def agreement(self, request: Request, public_id: str) -> PayloadResponse[ReviewAgreementPayload]:
        review = self.get_object()
        access.require_results(actor_of(request), review)
        return PayloadResponse(review_agreement_payload(review, read_agreement(review)))


class OpinionExport(APIView):
    def get(self, request: Request, public_id: str, ending: str) -> StreamingHttpResponse:
        actor = actor_of(request)
        review = access.get_review_or_404(actor, public_id)
        if ending not in WRITERS or not access.reads_opinions(actor, review):
            raise NotFound
        return opinions_response(review, ending, actor=actor)


def _ask_models_first(request: Request, owner: User, asked: JsonObject, terms: JsonObject) -> Review:
    """Raises InvalidInput for unknown models, too."""
    actor = actor_of(request)
    place = place_named(actor, asked["team"])
    models = models_by_name(asked["models"], place)
    if unknown := [name for name in asked["models"] if name not in models]:
        raise InvalidInput(fields={"models": [_("There is no model “%(id)s”.") % {"id": name} for name in unknown]})
    opens = terms.pop("open")
    with counted_run(actor):
        return actions.ask_models_first(
            owner=owner, team=place, prompts=list(dict.fromkeys(asked["prompts"])),
            models=list(dict.fromkeys(models[name] for name in asked["models"])), budget=asked["budget"],
            reuse_days=asked["reuse_days"], opens_when_done=opens, **terms,
        )  # fmt: skip


class SecondOpinion(ViewSet):
    scopes = {"POST": Scope.BENCHMARK}
    lookup_field = "public_id"

    @idempotent
    def create(self, request: Request, public_id: str) -> Created[ReviewPayload]:
        actor = actor_of(request)
        battle = find_battle(actor, public_id)
        if battle is None:
            raise NotFound
        review = ask_others(actor=actor, battle=battle)
        return Created(review_payload(review, actor, voted=0))


class NextBattle(ViewSet):
    scopes = {"POST": Scope.VOTE}
    lookup_field = "public_id"

    @idempotent
    def create(
        self, request: Request, public_id: str
    ) -> PayloadResponse[BattlePayload | AnswerToGradePayload] | NoContent:
        """Return a battle or an answer to grade, or 204 if nothing is left for the person."""
        review = access.get_review_or_404(actor_of(request), public_id)
        if not access.belongs_to_audience(actor_of(request), review):
            raise NotAllowed
        actor = ensure_known_actor(cast(ActorRequest, request._request))
        if review.is_graded:
            drawn = actions.next_answer(actor, review)
            if drawn is None:
                return NoContent()
            return PayloadResponse(answer_to_grade_payload(review, read_shown(drawn)))
        battle = actions.next_battle(actor, review)
        if battle is None:
            return NoContent()
        return PayloadResponse(payload_for(actor, get_battle(battle.pk)))


class ReviewGrades(ViewSet):
    scopes = {"POST": Scope.VOTE}
    lookup_field = "public_id"

    @idempotent
    def create(self, request: Request, public_id: str) -> Created[GivenGradePayload]:
        review = access.get_review_or_404(actor_of(request), public_id)
        if not access.belongs_to_audience(actor_of(request), review):
            raise NotAllowed
        data = validated(NewReviewGradeSerializer(data=request.data))
        grade = actions.grade_answer(actor_of(request), review, data["answer"], data["value"])
        return Created({"answer": grade.pk, "value": data["value"]})


class JoinReview(ViewSet):
    scopes = {"POST": Scope.VOTE}

    @idempotent
    def create(self, request: Request) -> PayloadResponse[ReviewPayload]:
        data = validated(JoinSerializer(data=request.data))
        found = actions.find_by_code(data["code"], network_limit_keys(request._request))
        actor = ensure_known_actor(cast(ActorRequest, request._request))
        actions.join_review(actor, found, **data)
        review = access.get_review_or_404(actor, found.public_id)
        return PayloadResponse(review_payload(review, actor, voted=voted_by(actor, [review])[review.pk]))
