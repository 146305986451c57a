"""Who is asking: a member, a visitor, or a token that acts for a member."""

from dataclasses import dataclass
from typing import Literal

from django.conf import settings
from django.core import signing
from django.http import HttpRequest

from accounts.models import Scope, User, Visitor
from common import limits
from common.client_ip import network48_word, network_word
from common.compiled import Compiled

VISITOR_COOKIE = settings.ARENA_VISITOR_COOKIE
_signer = signing.Signer(salt="accounts.visitor")
_unclaimed = Compiled(lambda key: Visitor.objects.filter(key=key, claimed_by=None), str)


@dataclass(frozen=True)
class Actor:
    """`scopes` is None for a browser, which may do whatever its person may.

    `network` is network_word's, `network48` network48_word's.
    """

    user: User | None = None
    visitor: Visitor | None = None
    scopes: frozenset[Scope] | None = None
    network: str = "unknown"
    network48: str = ""

    @property
    def kind(self) -> Literal["member", "visitor"]:
        return "visitor" if self.user is None else "member"

    @property
    def key(self) -> str:
        """One word for this person, for counters and idempotency keys; the same on every request."""
        if self.user is not None:
            return f"user:{self.user.pk}"
        return f"visitor:{self.visitor.pk}" if self.visitor is not None else f"network:{self.network}"

    @property
    def is_known(self) -> bool:
        """Whether `key` names a person; otherwise it names their network."""
        return self.user is not None or self.visitor is not None

    @property
    def limit_keys(self) -> limits.Keys:
        """What limits.count counts: the person, and the networks.

        Networks are counted apart for visitors and members: visitors, who cost nothing to make, must not use up what
        members have. A visitor without a cookie cannot be told from the network, and is counted as the network alone.
        """
        keys: dict[str, str] = {self.kind: self.key} if self.is_known else {}
        keys["network"] = f"{self.kind}s:{self.network}"
        if self.network48:
            keys["network48"] = f"{self.kind}s:{self.network48}"
        return keys

    def may(self, scope: Scope) -> bool:
        return self.scopes is None or scope in self.scopes


def network_limit_keys(request: HttpRequest) -> dict[str, str]:
    """What limits.count counts where no person is known yet: the networks of a request."""
    keys = {"network": f"network:{network_word(request)}"}
    if network48 := network48_word(request):
        keys["network48"] = f"network:{network48}"
    return keys


def keys_of(*owners: User | Visitor) -> list[str]:
    """Every Actor.key under which visitors, or members also before signing in, have acted."""
    users = [owner for owner in owners if isinstance(owner, User)]
    visits = [owner for owner in owners if isinstance(owner, Visitor)]
    if users:
        visits += Visitor.objects.filter(claimed_by__in=users)
    return [*(Actor(user=user).key for user in users), *(Actor(visitor=visit).key for visit in visits)]


class ActorRequest(HttpRequest):
    """What ActorMiddleware makes of a request."""

    actor: Actor
    new_visitor: Visitor


def actor_of(request: HttpRequest) -> Actor:
    """The person behind a browser's request (one or two queries)."""
    network, network48 = network_word(request), network48_word(request)
    if request.user.is_authenticated:
        return Actor(user=request.user, network=network, network48=network48)
    return Actor(visitor=visitor_in_cookie(request), network=network, network48=network48)


def known_actor(request: ActorRequest) -> Actor:
    """The actor, with a visitor row made now when this browser had none; its cookie goes out with the response."""
    actor = request.actor
    if actor.user is None and actor.visitor is None:
        visitor = Visitor.objects.create(network=actor.network)
        request.new_visitor = visitor
        actor = Actor(visitor=visitor, network=actor.network, network48=actor.network48)
        request.actor = actor
    return actor


def visitor_cookie_value(visitor: Visitor) -> str:
    return _signer.sign(visitor.key)


def visitor_in_cookie(request: HttpRequest) -> Visitor | None:
    try:
        key = _signer.unsign(request.COOKIES.get(VISITOR_COOKIE, ""))
    except signing.BadSignature:
        return None
    return next(iter(_unclaimed(key)), None)
