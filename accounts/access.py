"""Who is let in at all: the one place that pages and the API ask.

A stream of answers is not asked again: its address holds a signed word that only somebody who was let in was given.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import Any

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseBase

from accounts.actor import Actor
from accounts.errors import SignInNeeded
from common.error_pages import page_for

SAFE = ("GET", "HEAD", "OPTIONS")
# Beginnings of the routes behind which somebody signs in, or that know by themselves whom they are for.
DOORS = ("accounts/", "admin/", "livez", "readyz", "stream/")


class Access(StrEnum):
    """OPEN: anybody may battle and vote. MEMBERS: visitors look and change nothing. PRIVATE: members only."""

    OPEN = "open"
    MEMBERS = "members"
    PRIVATE = "private"


class SignUp(StrEnum):
    OPEN = "open"
    INVITATION = "invitation"
    CLOSED = "closed"


def may_battle(actor: Actor) -> bool:
    return settings.ARENA_ACCESS == Access.OPEN or actor.user is not None


def admit(actor: Actor, request: HttpRequest) -> None:
    """Raises SignInNeeded. With open access nobody is looked up."""
    looks = request.method in SAFE and settings.ARENA_ACCESS != Access.PRIVATE
    if not looks and not may_battle(actor):
        raise SignInNeeded


class AccessMiddleware:
    """Admits to pages; the API does when it knows whose token it was sent (ActorAuthentication)."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(self, request: Any, view: Any, args: Any, kwargs: Any) -> HttpResponse | None:
        is_api = hasattr(view, "cls")
        if is_api or request.resolver_match.route.startswith(DOORS):
            return None
        try:
            admit(request.actor, request)
        except SignInNeeded as refusal:
            if request.method == "GET" and not request.htmx:
                return redirect_to_login(request.get_full_path())
            return page_for(request, refusal)
        return None
