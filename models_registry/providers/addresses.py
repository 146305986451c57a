"""Allowed network addresses of providers: never link-local or metadata ones, private ones only if enabled.

Each connection checks its own address, so that DNS rebinding cannot circumvent the rule.
"""

import socket
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from common.network_zones import Zone, zone_of


class AddressRefused(OSError):
    """Raised for an address that providers may not have.

    The message never names the address, so that aiohttp reports equal errors of a name's addresses as one.
    """

    def __init__(self) -> None:
        super().__init__("an address that providers may not have")


def is_allowed(zone: Zone | None, *, allows_private: bool | None = None) -> bool:
    """allows_private: of a team's provider; None for the site's, which the setting decides."""
    if allows_private is None:
        allows_private = bool(settings.ARENA_ALLOW_PRIVATE_PROVIDERS)
    return zone is not Zone.FORBIDDEN and (zone is not Zone.PRIVATE or allows_private)


class SocketFactory:
    """Socket factory for an aiohttp connector: refuses addresses that are not allowed.

    The addresses of the local model and of the outbound proxy are the operator's settings and always allowed. If one is
    a name, as in a container, the connector's resolver reports its addresses. Teams do not reach the local model.
    """

    def __init__(self, *, allows_private: bool | None = None) -> None:
        self._allows_private = allows_private
        self._addresses_of_operator: dict[tuple[str | None, int | None], set[str]] = {}

    def remember(self, host: str, port: int, addresses: Iterable[str]) -> None:
        if (host, port) in self._named_by_operator():
            self._addresses_of_operator[host, port] = set(addresses)

    def __call__(self, info: tuple[Any, ...]) -> socket.socket:
        """Return an unconnected socket. Raises AddressRefused. info: an entry of getaddrinfo's result."""
        family, kind, protocol, _, (address, port, *_) = info
        is_free = is_allowed(zone_of(address), allows_private=self._allows_private)
        if not is_free and not self._is_named_by_operator(address, port):
            raise AddressRefused
        return socket.socket(family, kind, protocol)

    def _is_named_by_operator(self, address: str, port: int) -> bool:
        return any(
            port == named_port and (address == host or address in self._addresses_of_operator.get((host, port), ()))
            for host, named_port in self._named_by_operator()
        )

    def _named_by_operator(self) -> list[tuple[str | None, int | None]]:
        local = settings.ARENA_LOCAL_MODEL_URL if self._allows_private is None else ""
        return [_host_and_port(url) for url in (local, settings.ARENA_OUTBOUND_PROXY) if url]


def _host_and_port(url: str) -> tuple[str | None, int | None]:
    parts = urlsplit(url)
    return "127.0.0.1" if parts.hostname == "localhost" else parts.hostname, parts.port
