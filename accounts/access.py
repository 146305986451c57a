"""Access rules of pages and API.

Streams of answers are exempt: their URLs hold a signed token.
"""

from collections.abc import Callable
from enum import StrEnum

from allauth.mfa.utils import is_mfa_enabled
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import AnonymousUser
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django_htmx.middleware import HtmxDetails

from accounts.actor import Actor, ActorRequest
from accounts.bans import refuse_banned
from accounts.errors import SignInNeeded
from accounts.models import User
from accounts.staff_rights import refuse_blocked_staff
from common.db.execution import CONNECTION_ERRORS
from common.error_pages import response_for_exception
from common.errors import ArenaError

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
# Prefixes of the routes for signing in, of the operator's pages, and of those that check access themselves.
EXEMPT_ROUTES = (
    "accounts/", "admin/", "language/", "livez", "readyz", "metrics", "site/", "stream/", "teams/join/", "v1/",
)  # fmt: skip
# Banned people keep access to their own account.
OWN_ACCOUNT_ROUTE = "api/v1/me/"


class Access(StrEnum):
    """OPEN: visitors may battle and vote. MEMBERS: visitors may only read. PRIVATE: members only."""

    OPEN = "open"
    MEMBERS = "members"
    PRIVATE = "private"


class SignUp(StrEnum):
    OPEN = "open"
    INVITATION = "invitation"
    CLOSED = "closed"


def may_battle(actor: Actor) -> bool:
    return settings.ARENA_ACCESS == Access.OPEN or actor.user is not None


def check_access(actor: Actor, request: HttpRequest) -> None:
    """Raise SignInNeeded or Banned. Safe methods on a non-private site skip the actor query."""
    is_safe = request.method in SAFE_METHODS
    if not (is_safe and settings.ARENA_ACCESS != Access.PRIVATE) and not may_battle(actor):
        raise SignInNeeded
    if not is_safe and not _route(request).startswith(OWN_ACCOUNT_ROUTE):
        refuse_banned(actor, request)


def _route(request: HttpRequest) -> str:
    return request.resolver_match.route if request.resolver_match else ""


def needs_second_factor(user: User | AnonymousUser) -> bool:
    if not settings.ARENA_STAFF_SECOND_FACTOR or not user.is_staff:
        return False
    return not is_mfa_enabled(user)


class PageRequest(ActorRequest):
    htmx: HtmxDetails


class AccessMiddleware:
    """Checks access to pages; ActorAuthentication checks the API, where the token names the actor."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(self, request: PageRequest, view: object, args: object, kwargs: object) -> HttpResponse | None:
        # Exceptions raised in process_view bypass process_exception, so they are converted here.
        try:
            return self._redirect_or_raise(request, is_api=hasattr(view, "cls"))
        except (ArenaError, *CONNECTION_ERRORS) as error:
            return response_for_exception(request, error)

    def _redirect_or_raise(self, request: PageRequest, *, is_api: bool) -> HttpResponse | None:
        route = _route(request)
        if route.startswith("admin/") and route != "admin/logout/":
            refuse_blocked_staff(request.actor.user)  # the actor: its network is known before staff act on networks
            if needs_second_factor(request.user):
                messages.warning(request, _("Set up a second factor: the administration opens with it."))
                return redirect("mfa_activate_totp")
        if is_api or route.startswith(EXEMPT_ROUTES):
            return None
        try:
            check_access(request.actor, request)
        except SignInNeeded:
            if request.method == "GET" and not request.htmx:
                return redirect_to_login(request.get_full_path())
            raise
        return None
