"""Client addresses and networks; forwarding headers count only from configured proxies.

Only a keyed hash of the network is stored, with a key of the month or of one purpose.
"""

import ipaddress
import re
from datetime import timedelta
from typing import TypedDict

from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import salted_hmac

# How long hashes of networks are kept at most. Promised to people, so no setting extends it.
MAX_NETWORK_DAYS = 60
# Headers of proxies, tunnels and content delivery networks: X-Forwarded-…, Via, X-Real-IP and their like.
_FORWARDING_HEADER = re.compile(
    r"forward|proxy|^via$|^cdn-loop$|^(cf|fly|fastly|x-amzn?|x-azure|x-envoy|x-original)-|(^|-)(ip|addr|address)$", re.I
)


class ClientNetworks(TypedDict):
    """Client's address, which is not stored, and keyed hashes of its network and of its IPv6 /48.

    One customer may have all 65,536 /64s of a /48. network48: "" for IPv4.
    """

    address: str
    network: str
    network48: str


def client_ip(request: HttpRequest) -> str:
    """Return the nearest address that is no trusted proxy.

    Walks X-Forwarded-For from the right while the previous hop is in ARENA_TRUSTED_PROXIES.
    """
    trusted = [ipaddress.ip_network(network, strict=False) for network in settings.ARENA_TRUSTED_PROXIES]
    address = request.META.get("REMOTE_ADDR") or "127.0.0.1"
    hops = [hop.strip() for hop in request.headers.get("X-Forwarded-For", "").split(",") if hop.strip()]
    while hops and _is_in(address, trusted):
        address = hops.pop()
    return address


def is_from_trusted_proxy(request: HttpRequest) -> bool:
    trusted = [ipaddress.ip_network(network, strict=False) for network in settings.ARENA_TRUSTED_PROXIES]
    return _is_in(request.META.get("REMOTE_ADDR", ""), trusted)


def is_in_networks(request: HttpRequest, networks: list[str]) -> bool:
    """Return whether the client connects from the networks; False for what may come through a proxy."""
    # Not client_ip: of two proxies that each replace X-Forwarded-For, it is the outer one's address.
    if is_from_trusted_proxy(request) or any(map(_FORWARDING_HEADER.search, request.headers)):
        return False
    address = request.META.get("REMOTE_ADDR", "")
    return _is_in(address, [ipaddress.ip_network(network, strict=False) for network in networks])


def network_of(address: str, *, prefix: int = 64) -> str:
    """Return an IPv4 address unchanged, an IPv6 address's /64 (or `prefix`), or "unknown"."""
    ip = parse_address(address)
    if isinstance(ip, ipaddress.IPv6Address):
        return str(ipaddress.IPv6Network((int(ip), prefix), strict=False))
    return "unknown" if ip is None else str(ip)


def network_hash(request: HttpRequest, month: str = "") -> str:
    """Return a keyed hash for `month` (default: now), 32 characters at most: 2026-11:5f0c…."""
    return keyed_hash(network_of(client_ip(request)), month)


def client_networks(request: HttpRequest) -> ClientNetworks:
    address = client_ip(request)
    wide = network_of(address, prefix=48)
    return {
        "address": address,
        "network": keyed_hash(network_of(address)),
        "network48": keyed_hash(wide) if wide.endswith("/48") else "",
    }


def kept_network_days() -> int:
    return min(settings.ARENA_KEEP_DAYS or MAX_NETWORK_DAYS, MAX_NETWORK_DAYS)


def kept_months() -> list[str]:
    """Return the months whose hashes of networks are kept, oldest first."""
    days = (timezone.now() - timedelta(days=age) for age in range(MAX_NETWORK_DAYS, -1, -1))
    return list(dict.fromkeys(f"{day:%Y-%m}" for day in days))


def hash_month(hashed: str) -> str:
    return hashed.partition(":")[0]


def keyed_hash(network: str, month: str = "") -> str:
    """Return a hash of a network's text, of 32 characters."""
    month = month or f"{timezone.now():%Y-%m}"
    digest = salted_hmac(f"common.client_ip:{month}", network, algorithm="sha256").hexdigest()
    return f"{month}:{digest[:24]}"


def lasting_hash(network: str, purpose: str) -> str:
    """Return a hash of a network's text for a purpose, of 32 characters."""
    return salted_hmac(f"common.client_ip:{purpose}", network, algorithm="sha256").hexdigest()[:32]


def _is_in(address: str, networks: list[ipaddress.IPv4Network | ipaddress.IPv6Network]) -> bool:
    ip = parse_address(address)
    return ip is not None and any(ip in network for network in networks)


def parse_address(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Parse an address, None if invalid; ::ffff:192.0.2.1 of a dual-stack socket becomes IPv4."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return None
    return getattr(ip, "ipv4_mapped", None) or ip
