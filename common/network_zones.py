"""Zones of network addresses, for the checks of outgoing connections."""

from enum import StrEnum
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit


class Zone(StrEnum):
    PUBLIC = "public"
    PRIVATE = "private"  # this machine or a private network
    FORBIDDEN = "forbidden"


# Metadata services with credentials of cloud machines (Amazon, Alibaba, Oracle, Azure), besides 169.254.169.254.
_METADATA = [ip_network(net) for net in ("fd00:ec2::/32", "100.100.100.200", "192.0.0.192", "168.63.129.16")]
# IPv6 networks with embedded IPv4 addresses, and the bits to shift these down by.
_IPV4_CARRIERS = [(ip_network("64:ff9b::/96"), 0), (ip_network("::/96"), 0), (ip_network("2002::/16"), 80)]
_THIS_NETWORK = ip_network("0.0.0.0/8")


def zone_of(address: str) -> Zone:
    """address: an IP address, with or without a zone index. Raises ValueError for anything else."""
    parsed = _embedded_ipv4(ip_address(address.partition("%")[0]))
    if (
        any(parsed in network for network in _METADATA)
        or parsed.is_link_local
        or parsed.is_multicast
        or parsed.is_unspecified
        or (isinstance(parsed, IPv4Address) and (parsed.is_reserved or parsed in _THIS_NETWORK))
    ):
        return Zone.FORBIDDEN
    is_site_local = isinstance(parsed, IPv6Address) and parsed.is_site_local
    return Zone.PUBLIC if parsed.is_global and not is_site_local else Zone.PRIVATE


def _embedded_ipv4(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """Return the embedded IPv4 address (mapped, NAT64, 6to4), or the address itself."""
    if isinstance(address, IPv4Address) or address.is_loopback:
        return address
    if address.ipv4_mapped:
        return address.ipv4_mapped
    for network, shift in _IPV4_CARRIERS:
        if address in network:
            return IPv4Address((int(address) >> shift) & 0xFFFF_FFFF)
    return address


def zone_of_url(url: str) -> Zone | None:
    """Return the zone of an address or localhost; None for other names and for no URL."""
    host = (urlsplit(url).hostname or "").rstrip(".")
    if host == "localhost" or host.endswith(".localhost"):
        return Zone.PRIVATE
    try:
        return zone_of(host)
    except ValueError:
        return None
