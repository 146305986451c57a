"""The person behind a request, and validated input."""

from typing import cast

from django.contrib.auth.models import AnonymousUser
from rest_framework.request import Request
from rest_framework.serializers import Serializer

from accounts.actor import Actor, ActorRequest
from accounts.models import User
from benchmarks.access import Person
from common.errors import NotSignedIn
from common.payload_types import JsonObject


def actor_of(request: Request) -> Actor:
    return cast(ActorRequest, request._request).actor


def person_of(request: Request) -> Person:
    return actor_of(request).user or AnonymousUser()


def member_of(request: Request) -> User:
    """Return the member. Raises NotSignedIn for visitors."""
    user = actor_of(request).user
    if user is None:
        raise NotSignedIn
    return user


def validated(serializer: Serializer[None]) -> JsonObject:
    serializer.is_valid(raise_exception=True)
    return cast(JsonObject, serializer.validated_data)
