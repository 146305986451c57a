"""The actor of a request, and validated input."""

from typing import cast

from rest_framework.request import Request
from rest_framework.serializers import Serializer

from accounts.actor import Actor, ActorRequest
from accounts.models import Team, User
from accounts.teams.places import PARAMETER, place_named
from common.errors import NotSignedIn
from common.payload_types import JsonObject


def actor_of(request: Request) -> Actor:
    return cast(ActorRequest, request._request).actor


def member_of(request: Request) -> User:
    """Return the member. Raises NotSignedIn for visitors."""
    user = actor_of(request).user
    if user is None:
        raise NotSignedIn
    return user


def place_filter(request: Request) -> Team | None:
    """Return the place that `?team=` names, else the token's. Raises NotFound, NotAllowed."""
    return place_named(actor_of(request), request.query_params.get(PARAMETER))


def validated(serializer: Serializer[None]) -> JsonObject:
    serializer.is_valid(raise_exception=True)
    return cast(JsonObject, serializer.validated_data)
