from typing import cast

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.views import APIView
from rest_framework.viewsets import ViewSet

from accounts.actor import Actor, ActorRequest, ensure_known_actor
from accounts.api.idempotency import idempotent
from accounts.models import Scope
from accounts.teams.places import PARAMETER, place_named
from battles.auto.payload_types import RoutePayload
from battles.auto.payloads import route_payload
from battles.auto.port import route
from battles.auto.store import store_decision
from battles.models import RoutingDecision
from common.api.serializers import validated_data
from common.api_responses import PayloadResponse, paginated
from common.errors import InvalidInput, NotFound
from common.payload_types import Page
from leaderboard.counting.site_numbers import SiteNumbers
from leaderboard.counting.vote_log import newest_order
from routing.actions import report_outcome
from routing.api.serializers import OutcomeSerializer, RouteRequestSerializer
from routing.models import RouterSnapshot
from routing.payload_types import DecisionOutcomePayload, DecisionPayload, RouterSnapshotPayload
from routing.payloads import decision_payload, outcome_payload, snapshot_payload


def _actor(request: Request) -> Actor:
    return cast(ActorRequest, request._request).actor


class Route(APIView):
    scopes = {"POST": Scope.BATTLE}

    @idempotent
    def post(self, request: Request) -> PayloadResponse[RoutePayload]:
        serializer = RouteRequestSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        actor = ensure_known_actor(cast(ActorRequest, request._request))
        actor.count("route", fail_open=True)
        place = place_named(actor, serializer.validated_data.get(PARAMETER))
        routing_request = serializer.routing_request(token=actor.token, team_id=None if place is None else place.pk)
        decision = store_decision(actor=actor, request=routing_request, routed=route(routing_request, actor))
        return PayloadResponse(route_payload(decision))


class DecisionViewSet(ViewSet):
    scopes = {"POST": Scope.BATTLE}
    lookup_field = "public_id"

    def get_queryset(self) -> QuerySet[RoutingDecision]:
        owned = RoutingDecision.objects.owned_by(_actor(self.request))
        return owned.select_related("session", "battle__vote", "outcome", "team").order_by("-pk")

    def get_object(self) -> RoutingDecision:
        decision = self.get_queryset().filter(public_id=self.kwargs["public_id"]).first()
        if decision is None:
            raise NotFound
        return decision

    def list(self, request: Request) -> PayloadResponse[Page[DecisionPayload]]:
        decisions = self.get_queryset()
        if PARAMETER in request.query_params:
            place = place_named(_actor(request), request.query_params[PARAMETER])
            decisions = decisions.filter(team=place)
        target = request.query_params.get("target", "")
        if target:
            if target not in RoutingDecision.Target.values:
                choices = ", ".join(RoutingDecision.Target.values)
                raise InvalidInput(fields={"target": [_("Choose one of: %(choices)s.") % {"choices": choices}]})
            decisions = decisions.filter(target=target)
        for name in ("query_type", "session__public_id"):
            value = request.query_params.get(name.removesuffix("__public_id"), "")
            if value:
                decisions = decisions.filter(**{name: value})
        return paginated(decisions, request, decision_payload)

    def retrieve(self, request: Request, public_id: str) -> PayloadResponse[DecisionPayload]:
        return PayloadResponse(decision_payload(self.get_object()))

    @action(detail=True, methods=["post"])
    @idempotent
    def outcome(self, request: Request, public_id: str) -> PayloadResponse[DecisionOutcomePayload]:
        decision = self.get_object()
        data = validated_data(OutcomeSerializer, request.data)
        return PayloadResponse(outcome_payload(report_outcome(decision=decision, **data)))


class SnapshotList(APIView):
    def get(self, request: Request) -> PayloadResponse[Page[RouterSnapshotPayload]]:
        place = place_named(_actor(request), request.query_params.get(PARAMETER))
        of_place = RouterSnapshot.objects.in_place(None if place is None else place.pk)
        snapshots = of_place.select_related("board").defer("parameters").order_by("-pk")
        numbers = SiteNumbers.read("battles_vote", until=newest_order())
        return paginated(snapshots, request, lambda snapshot: snapshot_payload(snapshot, numbers))
