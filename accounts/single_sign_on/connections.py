"""HTTP requests to issuers: to allowed addresses, without redirects or proxies, within a time and a size.

Page threads wait for the answer, so after a failure the issuer is not called for AWAY_S.
"""

import io
import json
import logging
import socket
import ssl
import threading
import time
from base64 import b64encode
from collections import defaultdict
from collections.abc import Mapping, Sequence
from http.client import HTTPConnection, HTTPException, HTTPResponse
from queue import Empty, SimpleQueue
from typing import NamedTuple, cast
from urllib.parse import unquote, urlencode, urlsplit

from django.conf import settings

from accounts.single_sign_on.errors import IssuerAnswerInvalid, IssuerUnreachable
from accounts.single_sign_on.issuers import Issuer
from common.network_zones import Zone, zone_of
from common.payload_types import Json, JsonObject

logger = logging.getLogger(__name__)

CONNECT_TIMEOUT_S = 3.0
# Time of a whole request: waiting for a slot, name, connection, handshake, head and body.
TOTAL_TIMEOUT_S = 5.0
SLOT_TIMEOUT_S = 1.0
MAX_BYTES = 256_000
JWT = "application/jwt"
AWAY_S = 10.0
# Threads of a process that may wait for one issuer; the others keep serving pages and other issuers' sign-ins.
MAX_WAITING = 4
_Address = tuple[int, int, int, str, tuple[object, ...]]  # of socket.getaddrinfo
# Both by the issuer's URL.
_slots: defaultdict[str, threading.BoundedSemaphore] = defaultdict(lambda: threading.BoundedSemaphore(MAX_WAITING))
_away_until: dict[str, float] = {}


class Answer(NamedTuple):
    """token: a body of the type application/jwt, not verified; `body` is empty then."""

    status: int
    body: JsonObject
    token: str | None = None


class _AddressRefused(OSError):
    pass


class _Deadline:
    def __init__(self) -> None:
        self._at = time.monotonic() + TOTAL_TIMEOUT_S

    def remaining_s(self) -> float:
        """Raises TimeoutError."""
        remaining_s = self._at - time.monotonic()
        if remaining_s <= 0:
            raise TimeoutError("the answer takes too long")
        return remaining_s


def fetch(
    issuer: Issuer, url: str, *, form: Mapping[str, str] | None = None, headers: Mapping[str, str] | None = None
) -> Answer:
    """Send a GET, or a POST of `form`, to the internal address if there is one.

    Raises IssuerUnreachable and IssuerAnswerInvalid.
    """
    url = issuer.internal(url)
    if not issuer.may_have(url):
        raise _invalid(issuer, "an address without HTTPS")
    deadline, slots = _Deadline(), _slots[issuer.url]
    if _is_away(issuer) or not slots.acquire(timeout=min(SLOT_TIMEOUT_S, TOTAL_TIMEOUT_S)):
        raise IssuerUnreachable(issuer)
    try:
        if _is_away(issuer):  # since this thread began to wait for a slot
            raise IssuerUnreachable(issuer)
        status, kind, body = _exchange(issuer, url, form, headers or {}, deadline)
    except (OSError, HTTPException, ValueError) as error:  # ValueError: an address that cannot be one
        _away_until[issuer.url] = time.monotonic() + AWAY_S
        logger.warning("issuer %s cannot be reached: %s: %s", issuer.key, type(error).__name__, error)
        raise IssuerUnreachable(issuer, f"{type(error).__name__}: {error}") from error
    finally:
        slots.release()
    is_token = kind.partition(";")[0].strip().lower() == JWT or body.startswith(b"eyJ")  # {" in base64
    if status == 200 and len(body) <= MAX_BYTES and is_token:
        return Answer(status, {}, body.decode("ascii", "replace").strip())
    return Answer(status, _parse(issuer, status, body))


def forget_failure(issuer: Issuer) -> None:
    _away_until.pop(issuer.url, None)


def _is_away(issuer: Issuer) -> bool:
    return time.monotonic() < _away_until.get(issuer.url, 0)


def _exchange(
    issuer: Issuer, url: str, form: Mapping[str, str] | None, headers: Mapping[str, str], deadline: _Deadline
) -> tuple[int, str, bytes]:
    """Return status, content type and body."""
    connection = _Connection(url, may_be_private=_may_be_private(issuer, url), deadline=deadline)
    parts = urlsplit(url)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    sent = {"Accept": "application/json", "Accept-Encoding": "identity", "Connection": "close"}
    sent |= {**_as_behind_a_proxy(issuer, url), **headers}
    if form is not None:
        sent["Content-Type"] = "application/x-www-form-urlencoded"
    try:
        connection.request("GET" if form is None else "POST", path, None if form is None else urlencode(form), sent)
        response = connection.getresponse()
        return response.status, response.getheader("Content-Type", ""), response.read(MAX_BYTES + 1)
    finally:
        connection.end()


def _as_behind_a_proxy(issuer: Issuer, url: str) -> dict[str, str]:
    """Name the public host at the internal address: several issuers know themselves by it."""
    if issuer.public(url) == url:
        return {}
    public = urlsplit(issuer.url)
    return {"Host": public.netloc, "X-Forwarded-Host": public.netloc, "X-Forwarded-Proto": public.scheme}


def _parse(issuer: Issuer, status: int, body: bytes) -> JsonObject:
    if 300 <= status < 400:
        raise _invalid(issuer, "a redirect")
    if len(body) > MAX_BYTES:
        raise _invalid(issuer, f"more than {MAX_BYTES} bytes")
    try:
        parsed: Json = json.loads(body)
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict):
        raise _invalid(issuer, f"HTTP {status} without a JSON object")
    return parsed


def _invalid(issuer: Issuer, problem: str) -> IssuerAnswerInvalid:
    logger.warning("issuer %s answers with %s", issuer.key, problem)
    return IssuerAnswerInvalid(issuer, problem)


def _may_be_private(issuer: Issuer, url: str) -> bool:
    """The issuer's own hosts, which the operator named, may be private."""
    return settings.ARENA_ALLOW_PRIVATE_PROVIDERS or urlsplit(url).hostname in issuer.hosts


class _Connection(HTTPConnection):
    """Connection that checks its address, and ends at its deadline."""

    def __init__(self, url: str, *, may_be_private: bool, deadline: _Deadline) -> None:
        parts = urlsplit(url)
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None
        self.default_port = 443 if self._tls else 80
        self._may_be_private, self._deadline = may_be_private, deadline
        self._socket: socket.socket | None = None
        super().__init__(parts.hostname or "", parts.port or self.default_port)

    def connect(self) -> None:
        self._socket = opened = self._open()
        if self._tls is not None:
            self._socket = opened = self._tls.wrap_socket(
                opened, server_hostname=self.host, do_handshake_on_connect=False
            )
            opened.settimeout(self._deadline.remaining_s())
            opened.do_handshake()
        self.sock = _TimedSocket(opened, self._deadline)

    def end(self) -> None:
        self.close()
        if self._socket is not None:
            self._socket.close()

    def _open(self) -> socket.socket:
        problem: OSError = _AddressRefused("an address that issuers may not have")
        try:
            addresses = self._addresses()
        except socket.gaierror:  # a name outside, of which only the proxy knows
            if not settings.ARENA_OUTBOUND_PROXY or self._tls is None:
                raise
            return self._tunnel()
        if settings.ARENA_OUTBOUND_PROXY and self._tls is not None and _are_public(addresses):
            return self._tunnel()
        for family, kind, protocol, _name, address in addresses:
            zone = zone_of(str(address[0]))
            if zone is Zone.FORBIDDEN or (zone is Zone.PRIVATE and not self._may_be_private):
                continue
            if zone is Zone.PUBLIC and self._tls is None:  # an internal address that leads elsewhere
                continue
            opened = socket.socket(family, kind, protocol)
            try:
                opened.settimeout(min(CONNECT_TIMEOUT_S, self._deadline.remaining_s()))
                opened.connect(address)
            except OSError as error:
                opened.close()
                problem = error
            else:
                return opened
        raise problem

    def _tunnel(self) -> socket.socket:
        """Return a connection through the proxy of the network."""
        proxy = urlsplit(settings.ARENA_OUTBOUND_PROXY)
        timeout_s = min(CONNECT_TIMEOUT_S, self._deadline.remaining_s())
        opened = socket.create_connection((proxy.hostname, proxy.port or 80), timeout_s)
        try:
            target = f"{self.host}:{self.port}"
            lines = [f"CONNECT {target} HTTP/1.1", f"Host: {target}"]
            if proxy.username:
                credentials = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
                lines.append(f"Proxy-Authorization: Basic {b64encode(credentials.encode()).decode()}")
            stream = _TimedSocket(opened, self._deadline)
            stream.sendall("\r\n".join([*lines, "", ""]).encode())
            response = HTTPResponse(cast("socket.socket", stream), method="CONNECT")
            response.begin()
            if response.status != 200:
                raise OSError(f"the proxy refuses with {response.status}")
        except BaseException:
            opened.close()
            raise
        return opened

    def _addresses(self) -> Sequence[_Address]:
        """Resolve the name in a thread: getaddrinfo has no timeout."""
        results: SimpleQueue[Sequence[_Address] | Exception] = SimpleQueue()

        def resolve() -> None:
            try:
                results.put(socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM))
            except (OSError, ValueError) as error:
                results.put(error)

        threading.Thread(target=resolve, name="issuer-name", daemon=True).start()
        try:
            addresses = results.get(timeout=self._deadline.remaining_s())
        except Empty:
            raise TimeoutError("the name is not resolved in time") from None
        if isinstance(addresses, Exception):
            raise addresses
        return addresses


def _are_public(addresses: Sequence[_Address]) -> bool:
    return all(zone_of(str(address[0])) is Zone.PUBLIC for *_kind, address in addresses)


class _TimedSocket:
    """The part of a socket that http.client uses.

    A server that sends a byte now and then never reaches a timeout of the socket, so each step gets what is left.
    """

    def __init__(self, opened: socket.socket, deadline: _Deadline) -> None:
        self._opened, self._deadline = opened, deadline

    def sendall(self, data: bytes) -> None:
        self._opened.settimeout(self._deadline.remaining_s())
        self._opened.sendall(data)

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(_TimedReader(self._opened, self._deadline))

    def close(self) -> None:
        """Do nothing: http.client closes before the body is read. `_Connection.end` closes the socket."""


class _TimedReader(io.RawIOBase):
    def __init__(self, opened: socket.socket, deadline: _Deadline) -> None:
        self._opened, self._deadline = opened, deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        self._opened.settimeout(self._deadline.remaining_s())
        return self._opened.recv_into(buffer)
