"""The person behind a request: a member, a visitor, or a token that acts for a member."""

from dataclasses import dataclass
from typing import Literal

from django.conf import settings
from django.core import signing
from django.http import HttpRequest

from accounts.models import Scope, User, Visitor
from common.client_ip import network_hashes
from common.prepared import PreparedQuery
from common.valkey import limits

VISITOR_COOKIE = settings.ARENA_VISITOR_COOKIE
_signer = signing.Signer(salt="accounts.visitor")
_unclaimed = PreparedQuery(lambda key: Visitor.objects.filter(key=key, claimed_by=None), str)


@dataclass(frozen=True)
class Actor:
    """Person who sends requests. `scopes`: None for a browser, which has all rights of its person."""

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
        """Stable identifier of the person, for counters and idempotency keys."""
        if self.user is not None:
            return f"user:{self.user.pk}"
        return f"visitor:{self.visitor.pk}" if self.visitor is not None else f"network:{self.network}"

    @property
    def is_known(self) -> bool:
        """False without member and visitor: `key` is the network's then."""
        return self.user is not None or self.visitor is not None

    @property
    def limit_keys(self) -> limits.Keys:
        """Return the keys for limits.count: the person's, if known, and the networks'."""
        # Visitors cost nothing to create, so they must not use up the limit of a network's members.
        person = {self.kind: self.key} if self.is_known else {}
        return person | _network_keys(f"{self.kind}s", network=self.network, network48=self.network48)

    def has_scope(self, scope: Scope) -> bool:
        return self.scopes is None or scope in self.scopes


def network_limit_keys(request: HttpRequest) -> dict[str, str]:
    """Return the networks' keys for limits.count, before the person is known."""
    return _network_keys("network", **network_hashes(request))


def _network_keys(counted: str, *, network: str, network48: str) -> dict[str, str]:
    keys = {"network": f"{counted}:{network}"}
    return keys | ({"network48": f"{counted}:{network48}"} if network48 else {})


def actor_keys(*owners: User | Visitor) -> list[str]:
    """Return each Actor.key of these people, with those of the visitors that members claimed."""
    users = [owner for owner in owners if isinstance(owner, User)]
    visits = [owner for owner in owners if isinstance(owner, Visitor)]
    if users:
        visits += Visitor.objects.filter(claimed_by__in=users)
    return [*(Actor(user=user).key for user in users), *(Actor(visitor=visit).key for visit in visits)]


class ActorRequest(HttpRequest):
    actor: Actor
    new_visitor: Visitor


def browser_actor(request: HttpRequest) -> Actor:
    networks = network_hashes(request)
    if request.user.is_authenticated:
        return Actor(user=request.user, **networks)
    return Actor(visitor=visitor_from_cookie(request), **networks)


def ensure_known_actor(request: ActorRequest) -> Actor:
    """Return the actor, or a new visitor whose cookie ActorMiddleware sets."""
    actor = request.actor
    if not actor.is_known:
        visitor = Visitor.objects.create(network=actor.network)
        request.new_visitor = visitor
        actor = Actor(visitor=visitor, network=actor.network, network48=actor.network48)
        request.actor = actor
    return actor


def visitor_cookie_value(visitor: Visitor) -> str:
    return _signer.sign(visitor.key)


def visitor_from_cookie(request: HttpRequest) -> Visitor | None:
    try:
        key = _signer.unsign(request.COOKIES.get(VISITOR_COOKIE, ""))
    except signing.BadSignature:
        return None
    return next(iter(_unclaimed(key)), None)
