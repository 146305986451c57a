"""An issuer outside is asked through the operator's proxy."""

import base64
import socket
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from accounts.single_sign_on import connections
from tests.accounts.single_sign_on.browser import START, sign_in
from tests.fake_issuer import FakeIssuer
from tests.worlds.outbound_proxy import Proxy, certificate, server_context

pytestmark = pytest.mark.django_db
HOST = "login.example.org"
Resolve = Callable[[str], None]


@pytest.fixture
def resolve_to(monkeypatch: pytest.MonkeyPatch) -> Resolve:
    """Fake name server: HOST has this address, or none."""
    real = socket.getaddrinfo

    def fake(to: str) -> None:
        def getaddrinfo(host: str, port: Any, *rest: Any, **others: Any) -> Any:
            if host != HOST:
                return real(host, port, *rest, **others)
            if not to:
                raise socket.gaierror(socket.EAI_NONAME, "unknown name")
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (to, port))]

        monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)

    return fake


@pytest.fixture
def outside(issuer: FakeIssuer, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeIssuer]:
    """An issuer at HOST, which only the proxy reaches."""
    monkeypatch.setattr(connections, "_away_until", {})
    file = certificate(HOST, tmp_path)
    monkeypatch.setattr(connections.ssl, "create_default_context", lambda: ssl_context(file))
    running = FakeIssuer(f"https://{HOST}/realms/arena")
    settings.ARENA_ALLOW_PRIVATE_PROVIDERS = False
    settings.ARENA_SSO = [running.settings()]
    yield running
    running.close()


def ssl_context(file: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(file)
    return context


@pytest.fixture
def proxy(outside: FakeIssuer, settings: Any, tmp_path: Path) -> Iterator[Proxy]:
    proxy = Proxy(int(outside.internal_url.split(":")[2].split("/")[0]), server_context(tmp_path / "certificate.pem"))
    settings.ARENA_OUTBOUND_PROXY = f"http://ada:a%20secret@127.0.0.1:{proxy.port}"
    yield proxy
    proxy.close()


@pytest.mark.parametrize("address", ["8.8.8.8", ""])
def test_issuer_outside_is_asked_through_the_proxy(
    address: str, outside: FakeIssuer, proxy: Proxy, resolve_to: Resolve, client: Client
):
    resolve_to(address)
    assert sign_in(client, outside).status_code == 302
    assert User.objects.get().email == "ada@example.org"
    assert set(proxy.requests) == {f"CONNECT {HOST}:443 HTTP/1.1"}
    credentials = base64.b64encode(b"ada:a secret").decode()
    assert all(f"Proxy-Authorization: Basic {credentials}" in head for head in proxy.heads)


@pytest.mark.parametrize("address", ["169.254.169.254"])
def test_forbidden_address_is_never_asked_of_the_proxy(
    address: str, outside: FakeIssuer, proxy: Proxy, resolve_to: Resolve, client: Client
):
    resolve_to(address)
    assert client.post(START).status_code == 503
    assert proxy.requests == []


def test_refusing_proxy_is_an_unreachable_issuer(
    outside: FakeIssuer, proxy: Proxy, resolve_to: Resolve, client: Client
):
    resolve_to("8.8.8.8")
    proxy.answer = "407 Proxy Authentication Required"
    assert client.post(START).status_code == 503
