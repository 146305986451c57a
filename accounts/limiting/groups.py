"""Wider limits of named networks and members."""

import ipaddress
from typing import NamedTuple

from accounts.limiting.networks import Network
from accounts.models import LimitGroup, User
from common.cache import TTLCached
from common.client_ip import parse_address
from common.db.execution import rows_if_migrated


class NamedNetwork(NamedTuple):
    """Network of a group. times: factor of its limits."""

    network: Network
    times: int


class _Groups(NamedTuple):
    networks: list[NamedNetwork]
    times_by_members: dict[int, int]  # by the id of a group of members


def _load() -> _Groups:
    # The limits of a vote are counted by new code on the schema of the release before, too.
    rows = rows_if_migrated(LimitGroup.objects.all())
    networks = [NamedNetwork(ipaddress.ip_network(text), row.times) for row in rows for text in row.networks]
    return _Groups(networks, {row.members_id: row.times for row in rows if row.members_id is not None})


in_force = TTLCached(_load, ttl_s=5, invalidated_by=(LimitGroup,))


def find_network(address: str) -> NamedNetwork | None:
    """Return the named network, of several that with the widest limits."""
    ip = parse_address(address)
    if ip is None:  # without a request
        return None
    containing = (named for named in in_force().networks if ip in named.network)
    return max(containing, key=lambda named: named.times, default=None)


def times_of_member(user: User) -> int:
    """One query if a group has members."""
    times = in_force().times_by_members
    groups = user.groups.values_list("pk", flat=True) if times else []
    return max((times.get(pk, 1) for pk in groups), default=1)
