"""Calls to public addresses go through the operator's proxy; the rules on addresses stay."""

import base64
import contextlib
import datetime
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpcore2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.fake_provider import FakeProvider
from tests.models_registry.providers.addresses.calling import call

HOST = "api.example.com"


class Proxy:
    """Leads every request to one server; ends the TLS of tunnels itself. `requests` has the first lines."""

    def __init__(self, port: int, tls: ssl.SSLContext) -> None:
        self.requests: list[str] = []
        self.heads: list[str] = []
        self._port, self._tls = port, tls
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                threading.Thread(target=self._serve, args=[client], daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with contextlib.suppress(OSError), client, socket.socket() as server:
            server.connect(("127.0.0.1", self._port))
            head = b""
            while b"\r\n\r\n" not in head:
                head += client.recv(65536)
            self.heads.append(head.decode())
            first = head.decode().splitlines()[0]
            self.requests.append(first)
            if first.startswith("CONNECT"):
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                client = self._tls.wrap_socket(client, server_side=True)
            else:
                server.sendall(head.replace(f"http://{HOST}".encode(), b"", 1))
            threading.Thread(target=_copy, args=[client, server], daemon=True).start()
            _copy(server, client)


def _copy(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ssl.SSLContext:
    """Context of a server with a certificate for HOST, which clients trust."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path / "certificate.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
    monkeypatch.setattr(httpcore2, "default_ssl_context", lambda **_: ssl.create_default_context(cafile=file))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context


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
