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


def is_allowed(zone: Zone | None) -> bool:
    return zone is not Zone.FORBIDDEN and (zone is not Zone.PRIVATE or settings.ARENA_ALLOW_PRIVATE_PROVIDERS)


class SocketFactory:
    """Socket factory for an aiohttp connector: refuses addresses that are not allowed.

    The local model's address is the operator's setting and always allowed. If it is a name, as in a container, the
    connector's resolver reports its addresses.
    """

    def __init__(self) -> None:
        self._addresses_of_local_model: set[str] = set()

    def remember(self, host: str, port: int, addresses: Iterable[str]) -> None:
        if (host, port) == _local_model():
            self._addresses_of_local_model = set(addresses)

    def __call__(self, info: tuple[Any, ...]) -> socket.socket:
        """Return an unconnected socket. Raises AddressRefused. info: an entry of getaddrinfo's result."""
        family, kind, protocol, _, (address, port, *_) = info
        if not is_allowed(zone_of(address)) and not self._is_local_model(address, port):
            raise AddressRefused
        return socket.socket(family, kind, protocol)

    def _is_local_model(self, address: str, port: int) -> bool:
        host, local_port = _local_model()
        return port == local_port and (address == host or address in self._addresses_of_local_model)


def _local_model() -> tuple[str | None, int | None]:
    parts = urlsplit(settings.ARENA_LOCAL_MODEL_URL)
    return "127.0.0.1" if parts.hostname == "localhost" else parts.hostname, parts.port
