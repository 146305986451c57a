"""Issuers that never come to an end are given up, and hold no thread longer and no other issuer."""

import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import product
from typing import Any

import pytest
from django.test import Client

from accounts.single_sign_on import connections
from accounts.single_sign_on.errors import IssuerUnreachable
from accounts.single_sign_on.issuers import Issuer
from tests.accounts.single_sign_on.browser import START, sign_in
from tests.fake_issuer import FakeIssuer
from tests.waiting import wait_for

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
DISCOVERY = "/.well-known/openid-configuration"
PATHS = [DISCOVERY, "/keys", "/token", "/userinfo"]
# The arena hangs up long before; a test must end also if it does not.
MAX_REPLY_S, PAUSE_S = 20.0, 0.05


@pytest.fixture(autouse=True)
def _short_deadline(issuer: FakeIssuer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "TOTAL_TIMEOUT_S", 1.0)
    issuer.person["groups"] = []


def dripped(begin: bytes, drip: bytes, pause_s: float = PAUSE_S) -> Callable[[Any], None]:
    """Return a reply that sends `drip` until the arena hangs up."""

    def reply(handler: Any) -> None:
        handler.close_connection = True
        stop = threading.Timer(MAX_REPLY_S, handler.connection.close)
        stop.start()
        with suppress(OSError, ValueError):
            handler.wfile.write(begin)
            while stop.is_alive():
                handler.wfile.write(drip)
                if pause_s:
                    handler.server.pause.wait(pause_s)
        if stop.is_alive():
            handler.server.hung_up.set()
        stop.cancel()

    return reply


HEAD = b"HTTP/1.1 200 OK\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
SLOW = {
    "dripping status": dripped(b"HTTP/1.1 ", b"2"),
    "dripping headers": dripped(HEAD, b"A"),
    "endless interim answers": dripped(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "dripping body": dripped(HEAD + b"\r\n", b" "),
    "dripping body of a known length": dripped(HEAD + b"Content-Length: 9999\r\n\r\n", b" "),
    "dripping chunks": dripped(CHUNKED, b"1\r\n \r\n"),
    "dripping size of a chunk": dripped(CHUNKED, b"0"),
    "endless trailers": dripped(CHUNKED + b"2\r\n{}\r\n0\r\n", b"a: b\r\n"),
}
FAST = {
    "endless body": (dripped(HEAD + b"\r\n", b" " * 65_536, 0), 502),
    "endless chunks": (dripped(CHUNKED, b"10000\r\n" + b" " * 65_536 + b"\r\n", 0), 502),
    "endless headers": (dripped(HEAD, b"a: b\r\n" * 1000, 0), 503),
    "endless line": (dripped(HEAD, b"a" * 65_536, 0), 503),
}


@pytest.fixture
def server(issuer: FakeIssuer) -> Iterator[Any]:
    issuer._server.hung_up, issuer._server.pause = threading.Event(), threading.Event()
    yield issuer._server
    issuer._server.pause.set()


@pytest.fixture
def _only_slow_requests_have_a_short_deadline(issuer: FakeIssuer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine may take longer than that for the other requests of a sign-in."""
    exchange = connections._exchange

    def exchange_with_patience(*arguments: Any) -> Any:
        _issuer, url, *_, deadline = arguments
        if url.removeprefix(issuer.url) not in issuer.replies:
            deadline._at += MAX_REPLY_S
        return exchange(*arguments)

    monkeypatch.setattr(connections, "_exchange", exchange_with_patience)


def reach(issuer: FakeIssuer, client: Client, settings: Any, path: str) -> Any:
    """Return the page that waits for the request to `path`."""
    settings.ARENA_SSO = [issuer.settings(staff_group="arena-staff")]
    if path == "/userinfo":
        issuer.person.pop("groups")
    return client.post(START) if path == DISCOVERY else sign_in(client, issuer)


@pytest.mark.usefixtures("_only_slow_requests_have_a_short_deadline")
@pytest.mark.parametrize(
    ("kind", "path"), [*product(SLOW, [DISCOVERY]), *product(["dripping headers", "dripping body"], PATHS[1:])]
)
def test_slow_answer_is_given_up(issuer: FakeIssuer, client: Client, settings: Any, server: Any, kind: str, path: str):
    issuer.replies[path] = SLOW[kind]
    response = reach(issuer, client, settings, path)
    assert (response.status_code, response.context["error"].code) == (503, "issuer_unreachable")
    assert int(response["Retry-After"]) > 0
    wait_for(server.hung_up.is_set)


@pytest.mark.parametrize(("kind", "path"), [*product(FAST, [DISCOVERY]), *product(["endless body"], PATHS[1:])])
def test_endless_answer_is_cut(issuer: FakeIssuer, client: Client, settings: Any, server: Any, kind: str, path: str):
    issuer.replies[path], status = FAST[kind]
    assert reach(issuer, client, settings, path).status_code == status
    wait_for(server.hung_up.is_set)


@pytest.mark.parametrize("path", PATHS)
def test_redirects_are_not_followed(issuer: FakeIssuer, client: Client, settings: Any, path: str):
    def redirect(handler: Any) -> None:
        handler.send_response(302)
        handler.send_header("Location", f"{issuer.url}{path}?again")
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    issuer.replies[path] = redirect
    response = reach(issuer, client, settings, path)
    assert (response.status_code, response.context["error"].code) == (502, "issuer_answer_invalid")
    assert issuer.requests[path] == 1


def test_slow_issuer_is_left_alone_for_a_while(issuer: FakeIssuer, client: Client, server: Any):
    issuer.replies[DISCOVERY] = SLOW["dripping body"]
    for _ in range(3):
        response = client.post(START)
        assert (response.status_code, response.context["error"].code) == (503, "issuer_unreachable")
    assert issuer.requests[DISCOVERY] == 1
    assert "Sign in with Example company" in client.get("/accounts/login/").text
    issuer.replies.clear()
    connections._away_until.clear()
    assert client.post(START).status_code == 200


def test_slow_name_is_given_up(issuer: FakeIssuer, client: Client, monkeypatch: pytest.MonkeyPatch):
    resolved = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: resolved.wait(MAX_REPLY_S) and [])
    assert client.post(START).context["error"].code == "issuer_unreachable"
    assert not resolved.is_set()
    resolved.set()


def test_silent_issuer_is_given_up(issuer: FakeIssuer, client: Client):
    release = threading.Event()
    issuer.replies[DISCOVERY] = lambda handler: release.wait(MAX_REPLY_S)
    assert client.post(START).context["error"].code == "issuer_unreachable"
    assert not release.is_set()
    release.set()


def test_slow_handshake_is_given_up():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"https://127.0.0.1:{listening.getsockname()[1]}"
        listening.settimeout(MAX_REPLY_S)
        with ThreadPoolExecutor() as threads:
            answer = threads.submit(connections.fetch, Issuer("company", url, "arena"), f"{url}{DISCOVERY}")
            server, _address = listening.accept()
            server.settimeout(MAX_REPLY_S)
            while server.recv(4096):  # until the arena hangs up
                server.sendall(b"\x16")
            with pytest.raises(IssuerUnreachable):
                answer.result()
            server.close()


def test_slow_issuer_holds_no_other_issuer(issuer: FakeIssuer, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(connections, "TOTAL_TIMEOUT_S", MAX_REPLY_S)
    release, slow, other = threading.Event(), Issuer("slow", issuer.url, "arena"), FakeIssuer()
    issuer.replies["/keys"] = lambda handler: release.wait(MAX_REPLY_S)
    with ThreadPoolExecutor(connections.MAX_WAITING) as threads:
        held = [threads.submit(connections.fetch, slow, f"{issuer.url}/keys") for _ in range(connections.MAX_WAITING)]
        wait_for(lambda: issuer.requests["/keys"] == connections.MAX_WAITING)
        assert connections.fetch(Issuer("other", other.url, "arena"), f"{other.url}/keys").status == 200
        assert not any(waiting.done() for waiting in held)
        with pytest.raises(IssuerUnreachable):
            connections.fetch(slow, f"{issuer.url}/keys")
        assert issuer.requests["/keys"] == connections.MAX_WAITING
        release.set()
    other.close()
