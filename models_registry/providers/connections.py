"""HTTP connections to providers: to allowed addresses only, without proxies, cookies or redirects."""

import socket
from collections.abc import Iterator
from functools import partial
from typing import Any

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.http_exceptions import BadHttpMessage, PayloadEncodingError

from models_registry.providers.addresses import AddressRefused, SocketFactory

# Idle connections are reused for this long.
KEEPALIVE_S = 5.0
# Responses such as 100 Continue and 103 Early Hints before the final one.
MAX_INTERIM_RESPONSES = 16


class _Protocol(ResponseHandler):
    """Response handler that closes a connection after too many interim responses.

    aiohttp reads any number of them, and a flood keeps the event loop busy past every deadline.
    """

    _interim_responses = 0

    def resume_reading(self, resume_parser: bool = True) -> None:
        # aiohttp resumes after each chunk that a reader takes from its buffer, a token of a stream, and enters the
        # parser again: a tenth of a stream's CPU.
        if self._reading_paused:
            super().resume_reading(resume_parser)

    def feed_data(self, data: Any, size: int = 0) -> None:
        message, _payload = data
        is_interim = 100 <= message.code < 200 and message.code != 101
        self._interim_responses = self._interim_responses + 1 if is_interim else 0
        if self._interim_responses <= MAX_INTERIM_RESPONSES:
            super().feed_data(data, size)
        elif self.transport is not None and not self.transport.is_closing():
            self.set_exception(BadHttpMessage("too many interim responses"))
            self.transport.close()


class _Connector(aiohttp.TCPConnector):
    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._factory = partial(_Protocol, loop=self._loop)  # type: ignore[assignment]


class _Resolver(aiohttp.ThreadedResolver):
    """Resolver that reports the addresses of each name to the connector's socket factory."""

    def __init__(self, sockets: SocketFactory) -> None:
        super().__init__()
        self._sockets = sockets

    async def resolve(self, host: str, port: int = 0, family: Any = socket.AF_INET) -> Any:
        resolved = await super().resolve(host, port, family)
        self._sockets.remember(host, port, [address["host"] for address in resolved])
        return resolved


def new_session(timeout: aiohttp.ClientTimeout | None = None, **connector_options: Any) -> aiohttp.ClientSession:
    """Return a session for the running event loop. Each request must disable redirects."""
    sockets = SocketFactory()
    # Without a limit: `calls_at_once` and the workers' concurrency limit connections.
    connector = _Connector(
        limit=0, keepalive_timeout=KEEPALIVE_S, socket_factory=sockets, resolver=_Resolver(sockets), **connector_options
    )
    return aiohttp.ClientSession(
        connector=connector, timeout=timeout or aiohttp.ClientTimeout(), cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,
    )  # fmt: skip


def is_address_refused(error: BaseException) -> bool:
    """Return whether AddressRefused caused `error`."""
    return any(isinstance(cause, AddressRefused) for cause in _with_causes(error))


def is_invalid_http(error: BaseException) -> bool:
    """Return whether invalid HTTP, not merely an early end, caused `error`."""
    return any(
        isinstance(cause, BadHttpMessage) and not isinstance(cause, PayloadEncodingError)
        for cause in _with_causes(error)
    )


def _with_causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
