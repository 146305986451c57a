"""The proxies of docs/operating.md, the real ones, in front of a small server over TLS."""

import json
import os
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from http.client import HTTPResponse, HTTPSConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from django.conf import settings
from django.test import RequestFactory, override_settings
from django.utils import timezone

from common.client_ip import client_ip
from tests.doc_checks import Document
from tests.waiting import wait_for
from tests.worlds.arena import free_port

pytestmark = pytest.mark.processes

NAME = "arena.example.org"
# Connections from it are the client's; the proxy's own come from 127.0.0.1.
CLIENT = "127.0.0.2"
BLOCKS = Document.read(settings.BASE_DIR / "docs" / "operating.md").blocks
# Debian has no package of Traefik.
NEEDS = {
    "caddy": "Debian's package caddy",
    "nginx": "Debian's package nginx",
    "apache2": "Debian's package apache2-bin",
    "haproxy": "Debian's package haproxy",
    "traefik": "Traefik on the PATH",
}
APACHE_MODULES = "mpm_event authn_core authz_core headers filter deflate ssl http2 proxy proxy_http"


@dataclass(frozen=True)
class Place:
    """Where a proxy of the tests listens, leads to, and keeps its files."""

    folder: Path
    port: int
    upstream_port: int

    def snippet(self, first_words: str) -> str:
        """Return the block of the document that begins so, with this place's ports and certificate."""
        (text,) = [text for _, text in BLOCKS if text.startswith(first_words)]
        text = text.replace("127.0.0.1:8000", f"127.0.0.1:{self.upstream_port}").replace(":443", f":{self.port}")
        return text.replace("/etc/ssl/", f"{self.folder}/")

    def write(self, text: str, name: str = "configuration") -> Path:
        (self.folder / name).write_text(text)
        return self.folder / name


def caddy(place: Place) -> list[str | Path]:
    site = place.snippet("arena.example.org {").removeprefix(f"{NAME} {{")
    options = "{\nadmin off\nauto_https disable_redirects\n}\n"
    certificate = f"bind 127.0.0.1\ntls {place.folder}/arena.pem {place.folder}/arena.key"
    file = place.write(f"{options}https://{NAME}:{place.port} {{\n{certificate}\n{site}")
    return ["run", "--adapter", "caddyfile", "--config", file]


def nginx(place: Place) -> list[str | Path]:
    folders = "".join(
        f"{name}_temp_path {place.folder}/{name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    server = place.snippet("server {").replace("listen 443", f"listen 127.0.0.1:{place.port}")
    options = f"daemon off;\nmaster_process off;\npid {place.folder}/pid;\nevents {{}}\n"
    return ["-e", "stderr", "-c", place.write(f"{options}http {{\naccess_log off;\n{folders}{server}}}\n")]


def apache2(place: Place) -> list[str | Path]:
    modules = Path(program("apache2") or "").parent.parent / "lib" / "apache2" / "modules"
    lines = [f"LoadModule {name}_module {modules}/mod_{name}.so" for name in APACHE_MODULES.split()]
    lines += ["User www-data", "Group www-data", f"Listen 127.0.0.1:{place.port}", f"PidFile {place.folder}/pid"]
    lines += [f"DefaultRuntimeDir {place.folder}", "ErrorLog /dev/stderr", place.snippet("<VirtualHost")]
    return ["-X", "-d", place.folder, "-f", place.write("\n".join(lines))]


def haproxy(place: Place) -> list[str | Path]:
    pair = [(place.folder / name).read_text() for name in ("arena.pem", "arena.key")]
    place.write("".join(pair), "arena-and-key.pem")
    defaults = "defaults\n timeout connect 5s\n timeout client 50s\n timeout server 50s\n"
    return ["-f", place.write(defaults + place.snippet("frontend arena").replace("bind :", "bind 127.0.0.1:"))]


def traefik(place: Place) -> list[str | Path]:
    certificates = [{"certFile": f"{place.folder}/arena.pem", "keyFile": f"{place.folder}/arena.key"}]
    routes = place.snippet("http:").replace("{certResolver: letsencrypt}", "{}")
    file = place.write(routes + yaml.safe_dump({"tls": {"certificates": certificates}}), "routes.yaml")
    address = f"--entryPoints.websecure.address=127.0.0.1:{place.port}"
    return [address, f"--providers.file.filename={file}", "--global.checkNewVersion=false"]


COMMANDS = {"caddy": caddy, "nginx": nginx, "apache2": apache2, "haproxy": haproxy, "traefik": traefik}


def program(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/usr/bin")


class Upstream(BaseHTTPRequestHandler):
    """It streams an event, waits for `second`, and streams another."""

    protocol_version = "HTTP/1.1"
    port: int
    second: Event
    paths: list[str]

    def do_GET(self) -> None:
        self.paths.append(self.path)
        if self.path == "/stream/1":
            self._stream()
        else:
            headers = {name.lower(): value for name, value in self.headers.items()}
            self._answer(json.dumps(headers).encode(), "application/json")

    def do_POST(self) -> None:
        left = size = int(self.headers["Content-Length"])
        while left:
            left -= len(self.rfile.read(min(left, 1 << 16)))
        self._answer(str(size).encode(), "text/plain")

    def _answer(self, body: bytes, content_type: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for chunk in (b"data: 1\n\n", b"data: 2\n\n", b""):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
            if chunk.endswith(b"1\n\n"):
                self.second.wait(60)  # longer than clients wait

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def upstream() -> Iterator[type[Upstream]]:
    class Handler(Upstream):
        second, paths = Event(), []

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Handler.port = server.server_port
        Thread(target=server.serve_forever, daemon=True).start()
        yield Handler
        Handler.second.set()
        server.shutdown()


def write_certificate(folder: Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, NAME)])
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(timezone.now() - timedelta(days=1))
    builder = builder.not_valid_after(timezone.now() + timedelta(days=1))
    builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
    certificate = builder.sign(key, hashes.SHA256())
    pem, no_password = serialization.Encoding.PEM, serialization.NoEncryption()
    (folder / "arena.pem").write_bytes(certificate.public_bytes(pem))
    (folder / "arena.key").write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, no_password))


class Client:
    def __init__(self, place: Place) -> None:
        self._place = place
        self.host = f"{NAME}:{place.port}"
        self._tls = ssl.create_default_context(cafile=place.folder / "arena.pem")

    def request(self, method: str, path: str, body: bytes | None = None, **headers: str) -> HTTPResponse:
        connection = HTTPSConnection(self.host)
        plain = socket.create_connection(("127.0.0.1", self._place.port), timeout=20, source_address=(CLIENT, 0))
        connection.sock = self._tls.wrap_socket(plain, server_hostname=NAME)
        connection.request(method, path, body, headers)
        return connection.getresponse()

    def is_answered(self) -> bool:
        try:
            return self.request("GET", "/").status == 200
        except OSError:
            return False


@pytest.fixture(
    params=[
        pytest.param(name, marks=pytest.mark.skipif(program(name) is None, reason=f"needs {what}"))
        for name, what in NEEDS.items()
    ]
)
def client(request: pytest.FixtureRequest, upstream: type[Upstream], tmp_path: Path) -> Iterator[Client]:
    """A client of the proxy, which was started."""
    write_certificate(tmp_path)
    place = Place(tmp_path, free_port(), upstream.port)
    command = [program(request.param), *COMMANDS[request.param](place)]
    environment = os.environ | {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    with (tmp_path / "output").open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, env=environment)
    client = Client(place)
    try:
        wait_for(lambda: process.poll() is not None or client.is_answered(), within=30)
        assert process.poll() is None, (tmp_path / "output").read_text()
        yield client
    finally:
        process.kill()
        process.wait()


def test_proxy_does_what_the_arena_needs(client: Client, upstream: type[Upstream]):
    forged = {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "http"}
    headers = json.load(client.request("GET", "/", **forged))
    with override_settings(ARENA_TRUSTED_PROXIES=["127.0.0.1"]):
        request = RequestFactory().get("/", headers={"X-Forwarded-For": headers["x-forwarded-for"]})
        assert client_ip(request) == CLIENT
    assert (headers["x-forwarded-proto"], headers["host"]) == ("https", client.host)

    stream = client.request("GET", "/stream/1", **{"Accept-Encoding": "gzip"})
    assert stream.readline() == b"data: 1\n"  # before the second was sent
    upstream.second.set()
    assert stream.read() == b"\ndata: 2\n\n"

    assert client.request("POST", "/upload", bytes(20_000_000)).read() == b"20000000"

    for path in ("/metrics", "/%6Detrics"):
        assert client.request("GET", path).status in (400, 403, 404)
        assert path not in upstream.paths
