"""Calls to public addresses go through the operator's proxy; the rules on addresses stay."""

import base64
import socket
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpcore2
import pytest

from tests.fake_provider import FakeProvider
from tests.models_registry.providers.addresses.calling import call
from tests.worlds.outbound_proxy import Proxy, certificate, server_context

HOST = "api.example.com"


@pytest.fixture
def tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ssl.SSLContext:
    """Context of a server with a certificate for HOST, which clients trust."""
    file = certificate(HOST, tmp_path)
    monkeypatch.setattr(httpcore2, "default_ssl_context", lambda **_: ssl.create_default_context(cafile=file))
    return server_context(file)


@pytest.fixture
def proxy(fake_provider: FakeProvider, tls: ssl.SSLContext, settings: Any) -> Iterator[Proxy]:
    proxy = Proxy(fake_provider.port, tls)
    settings.ARENA_OUTBOUND_PROXY = f"http://127.0.0.1:{proxy.port}"
    settings.ARENA_ALLOW_PRIVATE_PROVIDERS = False
    yield proxy
    proxy.close()


@pytest.mark.parametrize("addresses", [["8.8.8.8"], ["8.8.8.8 2606:4700::1"], []])
@pytest.mark.parametrize(("url", "line"), [
    (f"https://{HOST}/v1", f"CONNECT {HOST}:443 HTTP/1.1"),
    (f"http://{HOST}/v1", f"POST http://{HOST}/v1/chat/completions HTTP/1.1"),
])  # fmt: skip
def test_public_address_is_called_through_the_proxy(
    url: str, line: str, addresses: list[str], proxy: Proxy, names: Callable[..., list[str]]
):
    names(*addresses)
    assert call(url) == "one two "
    assert proxy.requests == [line]


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.1", "169.254.169.254"])
def test_private_address_is_never_asked_of_the_proxy(address: str, proxy: Proxy, names: Callable[..., list[str]]):
    names(address)
    assert call(f"https://{HOST}/v1") in ("address_refused", "unreachable", "timeout")
    assert call("http://169.254.169.254/v1") == "address_refused"
    assert proxy.requests == []


def test_private_server_is_called_directly(proxy: Proxy, fake_provider: FakeProvider, settings: Any):
    settings.ARENA_ALLOW_PRIVATE_PROVIDERS = True
    assert call(fake_provider.base_url) == "one two "
    assert proxy.requests == []


def test_proxy_gets_name_and_password(proxy: Proxy, names: Callable[..., list[str]], settings: Any):
    settings.ARENA_OUTBOUND_PROXY = f"http://ada:secret@127.0.0.1:{proxy.port}"
    names("8.8.8.8")
    assert call(f"https://{HOST}/v1") == "one two "
    credentials = base64.b64encode(b"ada:secret").decode()
    assert f"Proxy-Authorization: Basic {credentials}" in proxy.heads[0]


def test_absent_proxy_fails_the_call(settings: Any, names: Callable[..., list[str]]):
    with socket.create_server(("127.0.0.1", 0)) as free:
        settings.ARENA_OUTBOUND_PROXY = f"http://127.0.0.1:{free.getsockname()[1]}"
    names("8.8.8.8")
    assert call(f"https://{HOST}/v1") == "unreachable"
