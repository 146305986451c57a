"""API authentication: a bearer token, or the browser's cookies with CSRF protection."""

from datetime import timedelta
from typing import cast

from django.db.models.functions import Now
from django.http import HttpRequest
from django.middleware.csrf import get_token
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from rest_framework.authentication import BaseAuthentication, CSRFCheck, get_authorization_header
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from accounts import access
from accounts.actor import Actor, ActorRequest, browser_actor, network_limit_keys
from accounts.errors import NotInBrowser
from accounts.models import ApiToken, Scope, StaffNetwork, TeamMember, User
from common.client_ip import client_networks
from common.errors import NotAllowed, NotSignedIn
from common.origin import origin_mismatch
from common.prepared import PreparedQuery
from common.valkey import limits

# Not with every request: requests with one token would wait for each other's row lock.
LAST_USED_INTERVAL = timedelta(minutes=1)
NOT_COUNTED = _("API tokens cannot be checked at the moment. Please try again.")

_usable = PreparedQuery(lambda digest: ApiToken.objects.usable().select_related("user").filter(digest=digest), str)

_members = PreparedQuery(
    lambda team, user: TeamMember.objects.active().select_related("team").filter(team=team, user=user), int, int
)


def token_actor(request: HttpRequest, header: str) -> tuple[Actor, ApiToken]:
    """Return the actor of an `Authorization` header, and its token.

    Raises NotSignedIn for an unusable token, TooManyRequests after too many, ServiceAway if they cannot be counted.
    """
    scheme, _space, token = header.partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise NotSignedIn
    rows = _usable(ApiToken.digest_of(token))
    if not rows:
        limits.count("token", network_limit_keys(request), fail_open=False, not_counted=NOT_COUNTED)
        raise NotSignedIn
    row = rows[0]
    if row.last_used_at is None or timezone.now() - row.last_used_at > LAST_USED_INTERVAL:
        ApiToken.objects.filter(pk=row.pk).update(last_used_at=Now())
    scopes = frozenset(Scope(scope) for scope in row.scopes)
    networks = client_networks(request)
    StaffNetwork.objects.record(row.user, networks)
    return Actor(user=row.user, scopes=scopes, token=row.pk, membership=_membership(row), **networks), row


def _membership(token: ApiToken) -> TeamMember | None:
    if token.team_id is None:
        return None
    members = _members(token.team_id, token.user_id)
    if not members:  # removed since the token was read
        raise NotSignedIn
    return members[0]


class ActorAuthentication(BaseAuthentication):
    def authenticate(self, request: Request) -> tuple[User | None, Actor]:
        """Raises NotSignedIn for an unusable token, and as access.check_access."""
        header = get_authorization_header(request).decode("latin-1")
        if header:
            actor, _token = token_actor(request._request, header)
        else:
            get_token(request._request)  # API contract: every GET sets the csrftoken cookie
            self._enforce_csrf(request)
            actor = browser_actor(request._request)
        access.check_access(actor, request._request)
        cast(ActorRequest, request._request).actor = actor
        return actor.user, actor

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"

    def _enforce_csrf(self, request: Request) -> None:
        check = CSRFCheck(lambda _: None)  # type: ignore[arg-type]
        check.process_request(request._request)
        reason = check.process_view(request._request, None, (), {})  # type: ignore[arg-type]
        if reason:
            raise NotAllowed(
                origin_mismatch(request._request, str(reason))
                or gettext("The CSRF token is missing or wrong: send the csrftoken cookie's value as X-CSRFToken.")
            )


class HasScope(BasePermission):
    """Check a view's scope per method: `scopes = {"POST": Scope.BATTLE}`; default `read`.

    Methods in `in_browser = ("DELETE",)` accept no token.
    """

    def has_permission(self, request: Request, view: object) -> bool:
        if request.method in getattr(view, "in_browser", ()):
            return IsMemberInBrowser().has_permission(request, view)
        actor = cast(ActorRequest, request._request).actor
        needed = getattr(view, "scopes", {}).get(request.method, Scope.READ)
        if not actor.has_scope(needed):
            raise NotAllowed(gettext("This token lacks the scope “%(scope)s”.") % {"scope": needed})
        return True


class IsMemberInBrowser(BasePermission):
    """Refuse tokens: a stolen one must not create another with more scopes or a later expiry."""

    def has_permission(self, request: Request, view: object) -> bool:
        actor = cast(ActorRequest, request._request).actor
        if actor.scopes is not None:
            raise NotInBrowser
        if actor.user is None:
            raise NotSignedIn
        return True
