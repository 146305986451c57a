from functools import partial
from typing import cast

from allauth.account.internal.flows.reauthentication import is_reauthentication_required
from django.contrib.auth import logout
from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts import actions
from accounts.actor import Actor, ActorRequest
from accounts.api.authentication import IsMemberInBrowser
from accounts.api.idempotency import ShownOnce, idempotent
from accounts.api.serializers import NewTokenSerializer
from accounts.errors import ConfirmFirst, ThisBrowser
from accounts.models import ApiToken, SignIn, User
from accounts.payload_types import (
    NewlyMadeTokenPayload,
    PersonPayload,
    SignedInBrowserPayload,
    TokenSummaryPayload,
)
from accounts.payloads import browser_payload, person_payload, token_payload
from accounts.personal_data import personal_data_response
from accounts.sign_in.sessions import active_sign_ins
from accounts.teams.places import place_named
from accounts.token_usage import token_usage_of
from common.api.serializers import validated_data
from common.api_responses import Created, NoContent, PayloadResponse, paginated
from common.errors import NotFound
from common.payload_types import Page


def _actor(request: Request) -> Actor:
    return cast(ActorRequest, request._request).actor


class Me(APIView):
    in_browser = ("DELETE",)

    def get(self, request: Request) -> PayloadResponse[PersonPayload]:
        return PayloadResponse(person_payload(_actor(request)))

    def delete(self, request: Request) -> NoContent:
        if is_reauthentication_required(request._request, app=""):
            raise ConfirmFirst
        user = cast(User, request.user)
        actions.delete_account(user)
        logout(request._request)
        return NoContent()


class Export(APIView):
    permission_classes = [IsMemberInBrowser]

    def get(self, request: Request) -> HttpResponse:
        return personal_data_response(_actor(request))


class Tokens(APIView):
    permission_classes = [IsMemberInBrowser]

    def get(self, request: Request) -> PayloadResponse[Page[TokenSummaryPayload]]:
        user = cast(User, request.user)
        held = ApiToken.objects.held_by(user).prefetch_related("team")
        return paginated(held, request, partial(token_payload, usage=token_usage_of(user)))

    @idempotent
    def post(self, request: Request) -> Created[NewlyMadeTokenPayload]:
        data = validated_data(NewTokenSerializer, request.data)
        user = cast(User, request.user)
        place = place_named(_actor(request), data.pop("team", None))
        row, token = actions.issue_token(user=user, team=place, **data)
        payload: NewlyMadeTokenPayload = {**token_payload(row, token_usage_of(user)), "token": ShownOnce(token)}
        return Created(payload)


class Browsers(APIView):
    permission_classes = [IsMemberInBrowser]

    def get(self, request: Request) -> PayloadResponse[Page[SignedInBrowserPayload]]:
        current, user = request._request.session.session_key, cast(User, request.user)
        return paginated(active_sign_ins(user), request, partial(browser_payload, current_session=current))


class OtherBrowsers(APIView):
    permission_classes = [IsMemberInBrowser]

    def delete(self, request: Request) -> NoContent:
        user = cast(User, request.user)
        actions.sign_out(SignIn.objects.exclude(session=request._request.session.session_key), member=user, by=user)
        return NoContent()


class Browser(APIView):
    permission_classes = [IsMemberInBrowser]

    def delete(self, request: Request, public_id: str) -> NoContent:
        user = cast(User, request.user)
        row = SignIn.objects.filter(user=user, public_id=public_id)
        if row.filter(session=request._request.session.session_key).exists():
            raise ThisBrowser
        if not actions.sign_out(row, member=user, by=user):
            raise NotFound
        return NoContent()


class Token(APIView):
    permission_classes = [IsMemberInBrowser]

    def delete(self, request: Request, public_id: str) -> NoContent:
        row = ApiToken.objects.held_by(cast(User, request.user)).filter(public_id=public_id).first()
        if row is None:
            raise NotFound
        row.revoke()
        return NoContent()
