"""Too long bodies are refused while they arrive, with or without Content-Length."""

import errno
import socket
from urllib.parse import urlsplit

import pytest
from django.core.handlers.asgi import ASGIHandler
from django.urls import resolve
from rest_framework.parsers import MultiPartParser

from accounts.models import Scope
from arena_site.body_limit import FILES
from benchmarks.imports.limits import MAX_FILE_BYTES
from tests import make
from tests.site import Reader
from tests.site_urls import addresses
from tests.uploads.conftest import stored_files
from uploads.actions import MAX_BYTES
from uploads.models import Upload

pytestmark = pytest.mark.django_db(transaction=True)


def send_endlessly(site: str, path: str, *, max_bytes: int = 200_000_000) -> tuple[bytes, int]:
    """Send endless chunks without Content-Length; return the response's beginning and the bytes that were accepted."""
    address = urlsplit(site)
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    sent = 0
    with socket.create_connection((address.hostname, address.port), timeout=20) as connection:
        connection.sendall(
            b"POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n"
            b"Content-Type: multipart/form-data; boundary=b\r\n\r\n" % path.encode()
        )
        try:
            while sent < max_bytes:
                connection.sendall(chunk)
                sent += 0x10000
        except OSError:
            pass  # the server closed the connection
        try:
            return connection.recv(4096), sent
        except OSError:
            return b"", sent


@pytest.mark.parametrize(
    ("path", "limit"),
    [
        ("/api/v1/uploads/", MAX_BYTES), ("/api/v1/sessions/", 2_000_000),
        ("/api/v1/benchmarks/imports/", MAX_FILE_BYTES), ("/benchmarks/import/", MAX_FILE_BYTES),
    ],
)  # fmt: skip
def test_endless_body_without_length_is_cut_at_the_limit(site: str, path: str, limit: int):
    answer, sent = send_endlessly(site, path)
    assert sent < limit + 30_000_000  # buffers hold some more
    assert answer == b"" or answer.startswith(b"HTTP/1.1 413")
    assert Reader(site).get("/livez").status_code == 200


def send_all(site: str, path: str, size: int, *headers: bytes) -> bytes:
    address = urlsplit(site)
    is_chunked = b"Transfer-Encoding: chunked" in headers
    length = b"X: y" if is_chunked else b"Content-Length: %d" % size
    lines = (b"POST %s HTTP/1.1" % path.encode(), b"Host: 127.0.0.1", length, *headers)
    with socket.create_connection((address.hostname, address.port), timeout=60) as connection:
        connection.sendall(b"\r\n".join(lines) + b"\r\nContent-Type: multipart/form-data; boundary=b\r\n\r\n")
        for _ in range(size // 0x10000):
            connection.sendall(b"10000\r\n" + b"x" * 0x10000 + b"\r\n" if is_chunked else b"x" * 0x10000)
        connection.sendall(b"0\r\n\r\n" if is_chunked else b"x" * (size % 0x10000))
        return b"".join(iter(lambda: connection.recv(65536), b""))


@pytest.mark.parametrize(
    ("path", "size", "headers"),
    [
        ("/api/v1/uploads/", MAX_BYTES + 200_000, []),
        ("/uploads/", 60_000_000, []),
        ("/api/v1/uploads/", 30_000_000, [b"Transfer-Encoding: chunked"]),
        ("/api/v1/sessions/", 5_000_000, []),
        ("/v1/chat/completions", 30_000_000, []),
    ],
)
def test_refusal_reaches_client_that_sends_all_before_it_reads(site: str, path: str, size: int, headers: list[bytes]):
    head, _, body = send_all(site, path, size, *headers).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 413")
    assert b"\r\nconnection: close" in head.lower()
    assert b"content-length: %d" % len(body) in head.lower()


def test_client_that_waits_for_100_continue_is_refused_at_once(site: str):
    address = urlsplit(site)
    with socket.create_connection((address.hostname, address.port), timeout=60) as connection:
        connection.sendall(
            b"POST /uploads/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 30000000\r\nExpect: 100-continue\r\n\r\n"
        )
        response = b"".join(iter(lambda: connection.recv(65536), b""))
    assert response.startswith(b"HTTP/1.1 413")
    assert b"100 Continue" not in response


def test_file_over_20_mb_is_refused(reader: Reader):
    for size in (MAX_BYTES + 1, MAX_BYTES + 500_000):
        response = reader.post("/api/v1/uploads/", files={"file": ("big.txt", b"x" * size)})
        assert (response.status_code, response.json()["code"]) == (413, "too_large")
    assert (Upload.objects.count(), stored_files()) == (0, [])


def test_full_disk_while_receiving_returns_storage_full(reader: Reader, monkeypatch):
    async def raise_disk_full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(ASGIHandler, "read_body", raise_disk_full)
        response = reader.client.post("/api/v1/uploads/", files={"file": ("a.txt", b"text")})
    assert (response.status_code, response.json()["code"]) == (503, "storage_full")
    assert reader.post("/api/v1/uploads/", files={"file": ("a.txt", b"text")}).status_code == 201


def test_import_has_the_same_limit_by_api_and_page(site: str):
    member = make.member()
    token = make.token(member.user, scopes=[Scope.BENCHMARK])
    reader = Reader(site, token=token)
    table = b"question,expected\n" + b"".join(b"%d? %s,a\n" % (n, b"x" * 2_000) for n in range(1_500))
    assert len(table) > 3_000_000
    response = reader.post("/api/v1/benchmarks/imports/", files={"file": ("own.csv", table)})
    assert (response.status_code, response.json()["cases"]) == (202, 1_500)
    for size in (MAX_FILE_BYTES + 1, MAX_FILE_BYTES + 500_000):
        refused = reader.post("/api/v1/benchmarks/imports/", files={"file": ("own.csv", b"x" * size)})
        assert (refused.status_code, refused.json()) == (
            413, {"code": "too_large", "detail": "The file is larger than 50 MB."},
        )  # fmt: skip


def test_every_door_that_takes_a_file_has_its_limit():
    assert {path for path in addresses() if takes_files(path)} == {path for path in FILES if path.startswith("/api/")}
    for path in FILES:
        resolve(path)


def takes_files(path: str) -> bool:
    """Return whether a view of the API reads forms with files."""
    if not path.startswith("/api/v1/") or "{" in path:
        return False
    view = resolve(path).func
    of_class = getattr(getattr(view, "cls", None), "parser_classes", [])
    return MultiPartParser in getattr(view, "initkwargs", {}).get("parser_classes", of_class)
