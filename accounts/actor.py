"""The person behind a request: a member, a visitor, or a token that acts for a member."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from django.conf import settings
from django.core import signing
from django.http import HttpRequest
from django.utils.functional import Promise

from accounts.limiting import groups
from accounts.models import Scope, StaffNetwork, Team, TeamMember, User, Visitor
from common.client_ip import ClientNetworks, client_networks, keyed_hash
from common.prepared import PreparedQuery
from common.valkey import limits

VISITOR_COOKIE = settings.ARENA_VISITOR_COOKIE
_signer = signing.Signer(salt="accounts.visitor")
_unclaimed = PreparedQuery(lambda key: Visitor.objects.filter(key=key, claimed_by=None), str)


@dataclass(frozen=True)
class Actor:
    """`scopes`: None for a browser, which has all rights of its person. `token`: id of the ApiToken.

    `membership`: in the team of a token; None for a personal token, and for browsers.
    """

    user: User | None = None
    visitor: Visitor | None = None
    scopes: frozenset[Scope] | None = None
    token: int | None = None
    membership: TeamMember | None = None
    network: str = "unknown"
    network48: str = ""
    address: str = field(default="", repr=False)
    # States of this request's counters, for its response.
    usages: list[limits.Usage] = field(default_factory=list, repr=False, compare=False)

    @property
    def kind(self) -> Literal["member", "visitor"]:
        return "visitor" if self.user is None else "member"

    @property
    def key(self) -> str:
        """Stable identifier for counters and idempotency keys."""
        if self.user is not None:
            return f"user:{self.user.pk}"
        return f"visitor:{self.visitor.pk}" if self.visitor is not None else f"network:{self.network}"

    @property
    def is_known(self) -> bool:
        """False without member and visitor: `key` is the network's then."""
        return self.user is not None or self.visitor is not None

    @property
    def place(self) -> Team | None:
        """The team in which a token acts; None for personal tokens, and for browsers."""
        return None if self.membership is None else self.membership.team

    @property
    def place_id(self) -> int | None:
        return None if self.membership is None else self.membership.team_id

    def is_limited_from(self, team_id: int | None) -> bool:
        """Return whether this is a token of another place than the team's; a browser acts in all of its places."""
        return self.token is not None and self.place_id != team_id

    @property
    def memberships(self) -> dict[int, TeamMember]:
        """Return the memberships that count here, by the team's id: a token sees only its own place."""
        if self.token is not None:
            return {} if self.membership is None else {self.membership.team_id: self.membership}
        return {} if self.user is None else self.user.memberships

    @cached_property
    def _networks(self) -> "_CountedNetworks":
        return _CountedNetworks.of({"address": self.address, "network": self.network, "network48": self.network48})

    @property
    def wide_network(self) -> str:
        """Hash of the /48 or a named network inside; the network's for IPv4."""
        return self._networks.wide or self.network

    @property
    def network_times(self) -> int:
        """Factor of a named network's limits, otherwise 1."""
        return self._networks.times

    @property
    def limit_keys(self) -> limits.Keys:
        # Visitors cost nothing to create, so they must not use up the limit of a network's members.
        return self._person_keys | self._networks.keys(f"{self.kind}s")

    @property
    def _person_keys(self) -> dict[str, limits.Key]:
        times = 1 if self.user is None else groups.times_of_member(self.user)
        return {self.kind: limits.Key(self.key, times)} if self.is_known else {}

    def count(
        self,
        action: str,
        *,
        fail_open: bool,
        not_counted: str | Promise = limits.NOT_COUNTED,
        extra_counters: Iterable[limits.Counter] = (),
        of_network: bool = True,
    ) -> None:
        """Count as limits.count does, keeping the counters' states. of_network: also for the person's network."""
        keys = self.limit_keys if of_network else self._person_keys
        try:
            self.usages.extend(
                limits.count(action, keys, fail_open=fail_open, not_counted=not_counted, extra_counters=extra_counters)
            )
        except limits.LimitReached as refusal:
            self.usages.extend(refusal.usages)
            raise

    def has_scope(self, scope: Scope) -> bool:
        return self.scopes is None or scope in self.scopes


@dataclass(frozen=True)
class _CountedNetworks:
    network: str
    wide: str  # "" for IPv4 and for a named /64
    times: int

    @classmethod
    def of(cls, client: ClientNetworks) -> "_CountedNetworks":
        named = groups.find_network(client["address"])
        wide = client["network48"]
        if named is not None and wide and named.network.prefixlen > 48:  # its neighbours in the /48 have no part in it
            wide = keyed_hash(str(named.network)) if named.network.prefixlen < 64 else ""
        return cls(client["network"], wide, 1 if named is None else named.times)

    def keys(self, counted: str) -> dict[str, limits.Key]:
        keys = {"network": limits.Key(f"{counted}:{self.network}", self.times)}
        return keys | ({"network48": limits.Key(f"{counted}:{self.wide}", self.times)} if self.wide else {})


def network_limit_keys(request: HttpRequest) -> dict[str, limits.Key]:
    """Return the networks' keys, before the person is known."""
    return _CountedNetworks.of(client_networks(request)).keys("network")


def actor_keys(*owners: User | Visitor) -> list[str]:
    """Return Actor.keys, with those of visitors that members claimed."""
    users = [owner for owner in owners if isinstance(owner, User)]
    visits = [owner for owner in owners if isinstance(owner, Visitor)]
    if users:
        visits += Visitor.objects.filter(claimed_by__in=users)
    return [*(Actor(user=user).key for user in users), *(Actor(visitor=visit).key for visit in visits)]


class ActorRequest(HttpRequest):
    actor: Actor
    new_visitor: Visitor


def browser_actor(request: HttpRequest) -> Actor:
    networks = client_networks(request)
    if request.user.is_authenticated:
        StaffNetwork.objects.record(request.user, networks)
        return Actor(user=request.user, **networks)
    return Actor(visitor=visitor_from_cookie(request), **networks)


def ensure_known_actor(request: ActorRequest) -> Actor:
    """Return the actor, or a new visitor whose cookie ActorMiddleware sets."""
    actor = request.actor
    if not actor.is_known:
        visitor = Visitor.objects.create(network=actor.network)
        request.new_visitor = visitor
        actor = Actor(visitor=visitor, network=actor.network, network48=actor.network48, address=actor.address)
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
