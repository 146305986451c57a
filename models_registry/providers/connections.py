"""HTTP connections to providers: only to addresses they may have, without proxies, cookies or redirects."""

from typing import Any

import aiohttp

from models_registry.providers.addresses import AddressRefused, open_socket

# An idle connection is used again within so many seconds.
KEPT_S = 5.0


def connector(**options: Any) -> aiohttp.TCPConnector:
    """As many connections as are asked for; what limits them is `calls_at_once` and the workers' concurrency."""
    return aiohttp.TCPConnector(limit=0, keepalive_timeout=KEPT_S, socket_factory=open_socket, **options)


def new_session(timeout: aiohttp.ClientTimeout | None = None, **of_connector: Any) -> aiohttp.ClientSession:
    """Belongs to the running event loop; redirects have to be declined with each request."""
    return aiohttp.ClientSession(
        connector=connector(**of_connector), timeout=timeout or aiohttp.ClientTimeout(),
        cookie_jar=aiohttp.DummyCookieJar(), trust_env=False,
    )  # fmt: skip


def was_refused(error: BaseException | None) -> bool:
    """Whether `error` came of an address that providers may not have."""
    while error is not None:
        if isinstance(error, AddressRefused):
            return True
        error = error.__cause__ or error.__context__
    return False
