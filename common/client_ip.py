"""Whose network a request comes from; forwarding headers are believed only from configured proxies.

An address is looked at and forgotten: what is counted or stored is a word for its network that only this site can make,
another one every month.
"""

import ipaddress

from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import salted_hmac


def client_ip(request: HttpRequest) -> str:
    """The nearest address that is not one of our proxies.

    Walks X-Forwarded-For from the right, as far as ARENA_TRUSTED_PROXIES (addresses or networks) vouch for it.
    """
    trusted = [ipaddress.ip_network(network, strict=False) for network in settings.ARENA_TRUSTED_PROXIES]
    address = request.META.get("REMOTE_ADDR") or "127.0.0.1"
    hops = [hop.strip() for hop in request.headers.get("X-Forwarded-For", "").split(",") if hop.strip()]
    while hops and _is_in(address, trusted):
        address = hops.pop()
    return address


def is_from_trusted_proxy(request: HttpRequest) -> bool:
    """Whether what its other headers say was written, or let pass, by a proxy of ours."""
    trusted = [ipaddress.ip_network(network, strict=False) for network in settings.ARENA_TRUSTED_PROXIES]
    return _is_in(request.META.get("REMOTE_ADDR", ""), trusted)


def is_in_networks(request: HttpRequest, networks: list[str]) -> bool:
    """Whether a request comes from one of these networks; not where it only may, as a proxy stands before it that is
    not ours."""
    if "X-Forwarded-For" in request.headers and not is_from_trusted_proxy(request):
        return False
    return _is_in(client_ip(request), [ipaddress.ip_network(network, strict=False) for network in networks])


def network_of(address: str, *, prefix: int = 64) -> str:
    """Return what counts as one network: an IPv4 address, or the /64 (or other prefix) of an IPv6 address."""
    ip = _parse(address)
    if isinstance(ip, ipaddress.IPv6Address):
        return str(ipaddress.IPv6Network((int(ip), prefix), strict=False))
    return "unknown" if ip is None else str(ip)


def network_hash(request: HttpRequest, month: str = "") -> str:
    """At most 32 characters, e.g. 2026-11:5f0c…: the same for the whole network all through `month` (now: this one)."""
    return _word(network_of(client_ip(request)), month)


def network48_hash(request: HttpRequest) -> str:
    """The same for the /48 of an IPv6 address: one customer may have all of its 65,536 networks. Empty for IPv4."""
    network = network_of(client_ip(request), prefix=48)
    return _word(network) if network.endswith("/48") else ""


def hash_month(word: str) -> str:
    return word.partition(":")[0]


def _word(network: str, month: str = "") -> str:
    month = month or f"{timezone.now():%Y-%m}"
    digest = salted_hmac(f"common.client_ip:{month}", network, algorithm="sha256").hexdigest()
    return f"{month}:{digest[:24]}"


def _is_in(address: str, networks: list[ipaddress.IPv4Network | ipaddress.IPv6Network]) -> bool:
    ip = _parse(address)
    return ip is not None and any(ip in network for network in networks)


def _parse(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """A dual-stack socket writes an IPv4 address as ::ffff:192.0.2.1: it is the same address."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return None
    return getattr(ip, "ipv4_mapped", None) or ip
