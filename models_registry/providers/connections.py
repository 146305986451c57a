"""HTTP connections to providers: to allowed addresses only, without cookies or redirects."""

import socket
from collections.abc import Iterator
from functools import partial
from typing import Any

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection
from aiohttp.helpers import strip_auth_from_url
from aiohttp.http_exceptions import BadHttpMessage, PayloadEncodingError
from django.conf import settings
from yarl import URL

from common.network_zones import Zone, zone_of
from models_registry.providers.addresses import AddressRefused, SocketFactory

# Idle connections are reused for this long.
KEEPALIVE_S = 5.0
# Responses such as 100 Continue and 103 Early Hints before the final one.
MAX_INTERIM_RESPONSES = 16
HEAD_END = b"\r\n\r\n"
# A head in several reads is held back up to this length.
MAX_HELD_HEAD_BYTES = 16_000


class ClosedUnanswered(aiohttp.ServerDisconnectedError):
    """Raised if a connection ends before a byte of the response.

    was_idle: the connection had served an earlier request, so its server may have closed it before this one came.
    """

    def __init__(self, cause: BaseException, *, was_idle: bool) -> None:
        super().__init__(str(cause))
        self.was_idle = was_idle


class _Protocol(ResponseHandler):
    """Response handler for servers that deviate from HTTP.

    - aiohttp reads any number of interim responses, and a flood keeps the event loop busy past every deadline.
    - Its parser forgets a response if the same read has invalid bytes behind it. So heads are parsed by themselves.
    - It never ends a body with invalid bytes in its middle.
    """

    _requests = 0
    _interim_responses = 0
    _is_silent = True
    _has_head = False
    _head = b""  # its beginning, held back

    def set_response_params(self, **params: Any) -> None:
        self._requests += 1
        self._is_silent, self._has_head, self._interim_responses = True, False, 0
        super().set_response_params(**params)

    def data_received(self, data: bytes) -> None:
        if not self._has_head:
            self._is_silent = False
            data, self._head = self._head + data, b""
            while not self._has_head and self._exception is None and (end := data.find(HEAD_END) + len(HEAD_END)) > 3:
                super().data_received(_with_one_length(data[:end]))
                data = data[end:]
            if not data or self._exception is not None:
                return
            if not self._has_head and self._parser is not None and _is_unfinished_head(data):
                self._head = data
                return
        super().data_received(data)

    def connection_lost(self, exc: BaseException | None) -> None:
        if self._head:
            super().data_received(self._head)
            self._head = b""
        super().connection_lost(exc)

    def resume_reading(self, resume_parser: bool = True) -> None:
        # aiohttp resumes after each chunk that a reader takes from its buffer, a token of a stream, and enters the
        # parser again: a tenth of a stream's CPU.
        if self._reading_paused:
            super().resume_reading(resume_parser)

    def feed_data(self, data: Any, size: int = 0) -> None:
        message, _payload = data
        is_interim = 100 <= message.code < 200 and message.code != 101
        self._has_head = not is_interim
        self._interim_responses = self._interim_responses + 1 if is_interim else 0
        if self._interim_responses <= MAX_INTERIM_RESPONSES:
            super().feed_data(data, size)
        elif self.transport is not None and not self.transport.is_closing():
            self.set_exception(BadHttpMessage("too many interim responses"))
            self.transport.close()

    def set_exception(self, exc: BaseException, *cause: BaseException) -> None:
        payload = self._payload
        if payload is not None and not payload.is_eof() and payload.exception() is None:
            error = aiohttp.ClientPayloadError(f"Response payload is not completed: {exc!r}")
            error.__cause__ = cause[0] if cause else exc
            payload.set_exception(error)
        if self._is_silent and isinstance(exc, aiohttp.ServerDisconnectedError | aiohttp.ClientOSError):
            exc = ClosedUnanswered(exc, was_idle=self._requests > 1)
        super().set_exception(exc, *cause)


def _is_unfinished_head(data: bytes) -> bool:
    # Some servers end lines by a line feed only.
    return data.startswith(b"HTTP/") and b"\n\n" not in data and len(data) <= MAX_HELD_HEAD_BYTES


def _with_one_length(head: bytes) -> bytes:
    """Return the head with one length or, if the body is in chunks, without any (RFC 9112, 6.3)."""
    if head.lower().count(b"content-length") + (b"chunked" in head.lower()) < 2:
        return head
    lengths: list[bytes] = []
    others: list[bytes] = []
    is_chunked = False
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        is_chunked |= name.lower() == b"transfer-encoding" and b"chunked" in value.lower()
        (lengths if name.lower() == b"content-length" else others).append(line)
    values = {value.strip() for line in lengths for value in line.partition(b":")[2].split(b",")}
    if is_chunked:
        return b"\r\n".join(others)
    return b"\r\n".join([others[0], lengths[0].partition(b",")[0], *others[1:]]) if len(values) == 1 else head


class _Connector(aiohttp.TCPConnector):
    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._factory = partial(_Protocol, loop=self._loop)  # type: ignore[assignment]

    async def connect(self, req: aiohttp.ClientRequest, **others: object) -> Connection:  # type: ignore[override]
        if settings.ARENA_OUTBOUND_PROXY and await self._is_outside(req):
            proxy, authorization = strip_auth_from_url(URL(settings.ARENA_OUTBOUND_PROXY))
            req.update_proxy(proxy, authorization, None)
        return await super().connect(req, **others)  # type: ignore[arg-type]

    async def _is_outside(self, request: aiohttp.ClientRequest) -> bool:
        """Return whether the host has public addresses only, or a name that nothing here resolves."""
        try:
            found = await self._resolve_host(request.url.raw_host or "", request.url.port or 0)
        except OSError:
            return True
        return all(zone_of(address["host"]) is Zone.PUBLIC for address in found)


class _Resolver(aiohttp.ThreadedResolver):
    """Resolver that reports the addresses of each name to the connector's socket factory."""

    def __init__(self, sockets: SocketFactory) -> None:
        super().__init__()
        self._sockets = sockets

    async def resolve(self, host: str, port: int = 0, family: Any = socket.AF_INET) -> Any:
        resolved = await super().resolve(host, port, family)
        self._sockets.remember(host, port, [address["host"] for address in resolved])
        return resolved


def new_session(
    timeout: aiohttp.ClientTimeout | None = None, *, allows_private: bool | None = None, **connector_options: Any
) -> aiohttp.ClientSession:
    """Return a session for the running event loop. Each request must disable redirects.

    allows_private: as addresses.is_allowed; connections of one answer are never used for another.
    """
    sockets = SocketFactory(allows_private=allows_private)
    # The connector has no limit: `calls_at_once` and the workers' concurrency limit connections.
    if not connector_options.get("force_close"):
        connector_options["keepalive_timeout"] = KEEPALIVE_S
    connector = _Connector(limit=0, socket_factory=sockets, resolver=_Resolver(sockets), **connector_options)
    return aiohttp.ClientSession(
        connector=connector, timeout=timeout or aiohttp.ClientTimeout(), cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,
    )  # fmt: skip


def is_address_refused(error: BaseException) -> bool:
    """Return whether AddressRefused caused `error`."""
    return any(isinstance(cause, AddressRefused) for cause in _with_causes(error))


def unanswered(error: BaseException) -> ClosedUnanswered | None:
    """Return the cause of `error` if no byte of a response arrived."""
    return next((cause for cause in _with_causes(error) if isinstance(cause, ClosedUnanswered)), None)


def take_unread(response: aiohttp.ClientResponse) -> bytes:
    """Return bytes that arrived before an error and were not read."""
    return response.content._read_nowait(-1)


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
