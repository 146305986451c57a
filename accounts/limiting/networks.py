"""Networks as administrators write them: 192.0.2.0/24, 192.0.2.7, 2001:db8:1::/48."""

from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_network

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

Network = IPv4Network | IPv6Network

# A shorter prefix is no place that people share.
MIN_PREFIX = 8
# Clients are counted by the /64 of an IPv6 address (common.client_ip), so a part of one has no counter of its own.
MAX_IPV6_PREFIX = 64


def parse_network(text: str) -> Network:
    """Raises ValidationError."""
    try:
        network = ip_network(text, strict=False)
    except ValueError:
        network = None
    if network is None or getattr(network, "scope_id", None) or "%" in text or _is_mapped(network):
        raise _refusal(
            _("“%(typed)s” is no network. Write for example 192.0.2.7, 192.0.2.0/24 or 2001:db8:1::/48."),
            "not_a_network", typed=text,
        )  # fmt: skip
    if network.prefixlen == 0:
        raise _refusal(
            _("“%(typed)s” is every address. Change the limit of a network instead."), "every_address", typed=text
        )
    if network.prefixlen < MIN_PREFIX:
        raise _refusal(
            _("“%(typed)s” is too wide. Write networks of /%(prefix)d or smaller."),
            "network_too_wide", typed=text, prefix=MIN_PREFIX,
        )  # fmt: skip
    if network.version == 6 and network.prefixlen > MAX_IPV6_PREFIX:
        around = ip_network((network.network_address, MAX_IPV6_PREFIX), strict=False)
        raise _refusal(
            _("IPv6 addresses are counted by their /64. Write %(network)s instead of “%(typed)s”."),
            "network_too_small", typed=text, network=around,
        )  # fmt: skip
    if _has_host_bits(text):
        raise _refusal(
            _("“%(typed)s” is an address in %(network)s. Write that network, or the address without “/”."),
            "host_bits", typed=text, network=network,
        )  # fmt: skip
    return network


def _refusal(sentence: str, code: str, **params: object) -> ValidationError:
    return ValidationError(sentence, code=code, params=params)


def _is_mapped(network: Network) -> bool:
    first = network.network_address
    return isinstance(first, IPv6Address) and first.ipv4_mapped is not None


def _has_host_bits(text: str) -> bool:
    try:
        ip_network(text)
    except ValueError:
        return True
    return False
