from dataclasses import dataclass, field

from django.http import HttpRequest
from django.utils.translation import gettext as _

from accounts import access
from accounts.actor import Actor
from accounts.api.authentication import token_actor
from accounts.models import ApiToken, Scope
from common.errors import NotAllowed, NotSignedIn


@dataclass(frozen=True)
class Caller:
    """Member for whom a program asks. secret: the token, which is stored nowhere."""

    actor: Actor
    token: ApiToken
    secret: str = field(repr=False)


def authenticate(request: HttpRequest) -> Caller:
    """Raise NotSignedIn, NotAllowed, Banned, or as token_actor. Cookies do not count."""
    header = request.headers.get("Authorization", "")
    if not header and (key := request.headers.get("X-Api-Key")):  # of clients of Anthropic's API
        header = f"Bearer {key}"
    if not header:
        raise NotSignedIn
    actor, token = token_actor(request, header)
    request.actor = actor  # type: ignore[attr-defined]
    access.check_access(actor, request)
    if not actor.has_scope(Scope.GATEWAY):
        raise NotAllowed(_("This token lacks the scope “%(scope)s”.") % {"scope": Scope.GATEWAY})
    return Caller(actor, token, header.partition(" ")[2])
