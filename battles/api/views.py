from typing import cast

from django.conf import settings
from django.http import HttpResponse
from django.utils.translation import gettext as _
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.viewsets import ViewSet

from accounts.actor import Actor, ActorRequest, ensure_known_actor
from accounts.api.idempotency import idempotent
from accounts.models import Scope
from accounts.teams.places import PARAMETER, place_named
from battles import actions
from battles.api.serializers import (
    CastVoteSerializer,
    ChangeSessionSerializer,
    FeedbackSerializer,
    PromptSerializer,
    ReportBattleSerializer,
    StarsSerializer,
    StartBattleSerializer,
    StartSessionSerializer,
    battle_request,
)
from battles.models import Answer, Battle, Session, Vote
from battles.models.sessions import SessionQuerySet
from battles.payload_types import (
    BattlePayload,
    ConsentPayload,
    PublicPagePayload,
    ReportPayload,
    SessionPayload,
    SessionSummaryPayload,
)
from battles.payloads import payload_for, share_payload
from battles.queries import find_battle, find_battle_with_related, get_battle
from battles.sessions.export import session_file_response
from battles.sessions.payloads import consent_payload, session_detail, session_summary
from common.api.serializers import validated_data
from common.api_responses import Created, NoContent, PayloadResponse, paginated
from common.errors import NotFound
from common.payload_types import Page


def _actor(request: Request) -> Actor:
    return cast(ActorRequest, request._request).actor


def _is_true(request: Request, name: str) -> bool:
    return request.query_params.get(name, "").lower() in ("1", "true")


def _current_payload(battle: Battle, request: Request) -> BattlePayload:
    return payload_for(_actor(request), get_battle(battle.pk))


class SessionViewSet(ViewSet):
    scopes = {"POST": Scope.BATTLE, "PATCH": Scope.BATTLE, "DELETE": Scope.BATTLE}
    lookup_field = "public_id"

    def get_object(self) -> Session:
        return self._find(Session.objects.owned_by(_actor(self.request)))

    def _find(self, sessions: SessionQuerySet) -> Session:
        session = sessions.filter(public_id=self.kwargs["public_id"]).first()
        if session is None:
            raise NotFound
        return session

    def list(self, request: Request) -> PayloadResponse[Page[SessionSummaryPayload]]:
        params = request.query_params
        sessions = Session.objects.owned_by(_actor(request)).filter(archived=_is_true(request, "archived"))
        sessions = sessions.search(params.get("search", "").replace("\x00", ""))
        if params.get("upload"):
            sessions = sessions.with_upload(params["upload"])
        if PARAMETER in params:
            sessions = sessions.in_place(place_named(_actor(request), params[PARAMETER]))
        sessions = sessions.prefetch_related("team")
        return paginated(sessions.with_revealed_names().with_battle_count().latest_first(), request, session_summary)

    @idempotent
    def create(self, request: Request) -> Created[SessionPayload]:
        data = validated_data(StartSessionSerializer, request.data)
        actor = ensure_known_actor(cast(ActorRequest, request._request))
        battle = actions.start_session(
            actor=actor,
            place=place_named(actor, data.get("team")),
            prompt=data["prompt"],
            battle_request=battle_request(data),
            proof=data["proof"],
        )
        return Created(session_detail(battle.session, [battle], actor=actor))

    def retrieve(self, request: Request, public_id: str) -> PayloadResponse[SessionPayload]:
        return PayloadResponse(session_detail(self.get_object(), actor=_actor(request)))

    def partial_update(self, request: Request, public_id: str) -> PayloadResponse[SessionPayload]:
        session = self.get_object()
        changes = validated_data(ChangeSessionSerializer, request.data)
        if "shared" in changes:
            actions.share_with_team(_actor(request), session, is_shared=changes.pop("shared"))
        if changes:
            actions.update_session(session, **changes)
        return PayloadResponse(session_detail(self.get_object(), actor=_actor(request)))

    def destroy(self, request: Request, public_id: str) -> NoContent:
        """Discard the session, or with `for_good` delete it, even if it is already discarded."""
        if _is_true(request, "for_good"):
            actions.delete_session(self._find(Session.objects.owned_or_discarded_by(_actor(request))))
        else:
            actions.discard_session(self.get_object())
        return NoContent()

    @action(detail=True, methods=["post"])
    @idempotent
    def restore(self, request: Request, public_id: str) -> PayloadResponse[SessionPayload]:
        actor = _actor(request)
        session = actions.restore_session(actor=actor, public_id=public_id)
        return PayloadResponse(session_detail(session, actor=actor))

    @action(detail=True, methods=["post"])
    @idempotent
    def battles(self, request: Request, public_id: str) -> Created[BattlePayload]:
        session = self.get_object()
        data = validated_data(StartBattleSerializer, request.data)
        battle = actions.start_battle(
            actor=_actor(request),
            session=session,
            prompt=data["prompt"],
            battle_request=battle_request(data),
            proof=data["proof"],
        )
        return Created(payload_for(_actor(request), battle))

    @action(detail=False, methods=["get"])
    def consent(self, request: Request) -> PayloadResponse[ConsentPayload]:
        return PayloadResponse(consent_payload(_actor(request)))

    @consent.mapping.delete
    def withdraw_consent(self, request: Request) -> NoContent:
        actions.withdraw_every_consent(_actor(request))
        return NoContent()

    @action(detail=True, methods=["get"])
    def export(self, request: Request, public_id: str) -> HttpResponse:
        """Return the session as JSON, or Markdown with `?as=markdown`."""
        return session_file_response(self.get_object(), request.query_params.get("as", "json"))


class BattleViewSet(ViewSet):
    lookup_field = "public_id"

    @property
    def scopes(self) -> dict[str, Scope]:
        return {"POST": Scope.VOTE if self.action in ("vote", "feedback") else Scope.BATTLE, "DELETE": Scope.BATTLE}

    def get_object(self, *, with_related: bool = False) -> Battle:
        find = find_battle_with_related if with_related else find_battle
        battle = find(_actor(self.request), self.kwargs["public_id"])
        if battle is None:
            raise NotFound
        return battle

    def retrieve(self, request: Request, public_id: str) -> PayloadResponse[BattlePayload]:
        return PayloadResponse(payload_for(_actor(request), self.get_object(with_related=True)))

    @action(detail=True, methods=["post"])
    @idempotent
    def messages(self, request: Request, public_id: str) -> Created[BattlePayload]:
        battle = self.get_object()
        data = validated_data(PromptSerializer, request.data)
        actions.follow_up(actor=_actor(request), battle=battle, prompt=data["prompt"], attachments=data["attachments"])
        return Created(_current_payload(battle, request))

    @action(detail=True, methods=["get"])
    def stream(self, request: Request, public_id: str) -> HttpResponse:
        """Redirect (307) to the live turn's events; 404 if no turn is live."""
        url = _current_payload(self.get_object(), request)["stream_url"]
        if url is None:
            raise NotFound(_("No answer is in progress; fetch the battle."))
        return HttpResponse(status=307, headers={"Location": url})

    @action(detail=True, methods=["post"])
    @idempotent
    def stop(self, request: Request, public_id: str) -> PayloadResponse[BattlePayload]:
        battle = self.get_object()
        actions.stop(battle=battle)
        return PayloadResponse(_current_payload(battle, request))

    @action(detail=True, methods=["post"])
    @idempotent
    def regenerate(self, request: Request, public_id: str) -> PayloadResponse[BattlePayload]:
        battle = self.get_object()
        actions.regenerate(actor=_actor(request), battle=battle)
        return PayloadResponse(_current_payload(battle, request))

    @action(detail=True, methods=["post"])
    @idempotent
    def vote(self, request: Request, public_id: str) -> Created[BattlePayload]:
        battle = self.get_object()
        data = validated_data(CastVoteSerializer, request.data)
        choice, answers = Vote.Choice(data["choice"]), data.get("answers", ())
        vote = actions.cast_vote(actor=_actor(request), battle=battle, choice=choice, answers=answers)
        return Created(payload_for(_actor(request), vote.battle))

    @action(detail=True, methods=["post"])
    @idempotent
    def report(self, request: Request, public_id: str) -> Created[ReportPayload] | PayloadResponse[ReportPayload]:
        battle = Battle.objects.find_visible(_actor(request), public_id)
        if battle is None:
            raise NotFound
        reason = validated_data(ReportBattleSerializer, request.data)["reason"]
        actor = ensure_known_actor(cast(ActorRequest, request._request))
        report, is_new = actions.report(actor=actor, battle=battle, reason=reason)
        payload: ReportPayload = {"battle": public_id, "reason": report.reason, "created_at": report.created_at}
        return Created(payload) if is_new else PayloadResponse(payload)

    @action(detail=True, methods=["post"])
    @idempotent
    def feedback(self, request: Request, public_id: str) -> PayloadResponse[BattlePayload]:
        battle = self.get_object()
        actions.give_feedback(battle=battle, **validated_data(FeedbackSerializer, request.data))
        return PayloadResponse(_current_payload(battle, request))

    @action(detail=True, methods=["post"])
    @idempotent
    def publish(self, request: Request, public_id: str) -> PayloadResponse[PublicPagePayload]:
        return PayloadResponse(share_payload(actions.publish(battle=self.get_object())))

    @publish.mapping.delete
    def withdraw(self, request: Request, public_id: str) -> NoContent:
        actions.withdraw(battle=self.get_object())
        return NoContent()

    @action(detail=True, methods=["post"])
    @idempotent
    def gallery(self, request: Request, public_id: str) -> PayloadResponse[PublicPagePayload]:
        if not settings.ARENA_GALLERY:
            raise NotFound
        return PayloadResponse(share_payload(actions.list_in_gallery(battle=self.get_object())))

    @gallery.mapping.delete
    def unlist(self, request: Request, public_id: str) -> NoContent:
        actions.unlist(battle=self.get_object())
        return NoContent()

    @action(detail=True, methods=["delete"])
    def consent(self, request: Request, public_id: str) -> NoContent:
        actions.withdraw_consent(Battle.objects.filter(pk=self.get_object().pk))
        return NoContent()


class AnswerViewSet(ViewSet):
    scopes = {"POST": Scope.VOTE}
    lookup_field = "public_id"

    def get_object(self) -> Answer:
        owned = Answer.objects.filter(turn__battle__in=Battle.objects.owned_by(_actor(self.request)))
        answer = owned.select_related("turn__battle").filter(public_id=self.kwargs["public_id"]).first()
        if answer is None:
            raise NotFound
        return answer

    @action(detail=True, methods=["post"])
    @idempotent
    def rating(self, request: Request, public_id: str) -> PayloadResponse[BattlePayload]:
        answer = self.get_object()
        stars = validated_data(StarsSerializer, request.data)["stars"]
        actions.give_stars(actor=_actor(request), answer=answer, stars=stars)
        return PayloadResponse(_current_payload(answer.turn.battle, request))
