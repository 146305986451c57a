"""HTTP requests to issuers: to allowed addresses, without redirects or proxies, within a time and a size.

Page threads wait for the answer, so after a failure the issuer is not called for AWAY_S.
"""

import json
import logging
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from typing import NamedTuple
from urllib.parse import urlencode, urlsplit

from django.conf import settings

from accounts.single_sign_on.errors import IssuerAnswerInvalid, IssuerUnreachable
from accounts.single_sign_on.issuers import Issuer
from common.network_zones import Zone, zone_of
from common.payload_types import Json, JsonObject

logger = logging.getLogger(__name__)

CONNECT_TIMEOUT_S = 3.0
TOTAL_TIMEOUT_S = 5.0
MAX_BYTES = 256_000
AWAY_S = 10.0
# Threads of a process that may wait for issuers; the others keep serving pages.
MAX_WAITING = 4
_slots = threading.BoundedSemaphore(MAX_WAITING)
_away_until: dict[str, float] = {}  # by the issuer's URL


class Answer(NamedTuple):
    status: int
    body: JsonObject


class _AddressRefused(OSError):
    pass


def fetch(
    issuer: Issuer, url: str, *, form: Mapping[str, str] | None = None, headers: Mapping[str, str] | None = None
) -> Answer:
    """Send a GET, or a POST of `form`. Raises IssuerUnreachable and IssuerAnswerInvalid."""
    if not issuer.may_have(url):
        raise _invalid(issuer, "an address without HTTPS")
    if time.monotonic() < _away_until.get(issuer.url, 0) or not _slots.acquire(timeout=1):
        raise IssuerUnreachable(issuer)
    try:
        status, body = _exchange(issuer, url, form, headers or {})
    except (OSError, HTTPException, ValueError) as error:  # ValueError: an address that cannot be one
        _away_until[issuer.url] = time.monotonic() + AWAY_S
        logger.warning("issuer %s cannot be reached: %s: %s", issuer.key, type(error).__name__, error)
        raise IssuerUnreachable(issuer) from error
    finally:
        _slots.release()
    return Answer(status, _parse(issuer, status, body))


def _exchange(
    issuer: Issuer, url: str, form: Mapping[str, str] | None, headers: Mapping[str, str]
) -> tuple[int, bytes]:
    connection = _Connection(url, may_be_private=_may_be_private(issuer, url))
    # A server that sends a byte now and then never reaches a timeout of the socket.
    watchdog = threading.Timer(TOTAL_TIMEOUT_S, connection.abort)
    watchdog.daemon = True
    watchdog.start()
    parts = urlsplit(url)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    sent = {"Accept": "application/json", "Accept-Encoding": "identity", "Connection": "close", **headers}
    if form is not None:
        sent["Content-Type"] = "application/x-www-form-urlencoded"
    try:
        connection.request("GET" if form is None else "POST", path, None if form is None else urlencode(form), sent)
        response = connection.getresponse()
        body = response.read(MAX_BYTES + 1)
    finally:
        watchdog.cancel()
        connection.close()
    if connection.was_aborted:
        raise TimeoutError("the answer takes too long")
    return response.status, body


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
    return IssuerAnswerInvalid(issuer)


def _may_be_private(issuer: Issuer, url: str) -> bool:
    """The issuer's own host, the operator's setting, may be private."""
    return settings.ARENA_ALLOW_PRIVATE_PROVIDERS or urlsplit(url).hostname == issuer.host


class _Connection(HTTPConnection):
    """Connection that checks its address."""

    def __init__(self, url: str, *, may_be_private: bool) -> None:
        parts = urlsplit(url)
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None
        self.default_port = 443 if self._tls else 80
        self._may_be_private = may_be_private
        self.was_aborted = False
        super().__init__(parts.hostname or "", parts.port or self.default_port, timeout=CONNECT_TIMEOUT_S)

    def connect(self) -> None:
        self.sock = self._open()
        if self._tls is not None:
            # The handshake comes after the assignment, so that `abort` can end it.
            self.sock = self._tls.wrap_socket(self.sock, server_hostname=self.host, do_handshake_on_connect=False)
            self.sock.do_handshake()

    def abort(self) -> None:
        self.was_aborted = True
        if self.sock is not None:
            with suppress(OSError):
                self.sock.shutdown(socket.SHUT_RDWR)

    def _open(self) -> socket.socket:
        problem: OSError = _AddressRefused("an address that issuers may not have")
        for family, kind, protocol, _name, address in socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM):
            zone = zone_of(str(address[0]))
            if self.was_aborted or zone is Zone.FORBIDDEN or (zone is Zone.PRIVATE and not self._may_be_private):
                continue
            opened = socket.socket(family, kind, protocol)
            opened.settimeout(CONNECT_TIMEOUT_S)
            try:
                opened.connect(address)
            except OSError as error:
                opened.close()
                problem = error
            else:
                return opened
        raise problem
