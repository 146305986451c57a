import math
import resource
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest
import uvicorn

from arena_site.asgi import application
from arena_site.embedded import connections
from arena_site.embedded.connections import BODY, HEAD, MIN_RATES, GuardedConnection, MinRate, Progress
from battles.streaming.protocol import TurnEvent, TurnToken, entry, stream_key
from common.valkey import connections as valkey
from common.valkey import stream_slots
from tests.site import Server
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)

FORM = b"POST /language/ HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n"


class ShortTimeouts(GuardedConnection):
    check_every_s = 0.1
    min_rates = {HEAD: MinRate(0.3, math.inf), BODY: MinRate(0.3, 10)}


@contextmanager
def served(protocol: type[GuardedConnection] = ShortTimeouts) -> Iterator[Server]:
    config = uvicorn.Config(
        application, http=protocol, loop="uvloop", lifespan="off", log_config=None, timeout_graceful_shutdown=30
    )
    listener = connections.listening_socket("127.0.0.1", 0)
    server = Server(config)
    thread = threading.Thread(target=server.run, args=[[listener]], daemon=True)
    thread.start()
    wait_for(lambda: server.started)
    server.address = listener.getsockname()  # type: ignore[attr-defined]
    try:
        yield server
    finally:
        server.should_exit = True
        thread.join(60)


def connect(server: Server, *sent: bytes) -> socket.socket:
    client = socket.create_connection(server.address, timeout=30)  # type: ignore[attr-defined]
    for piece in sent:
        client.sendall(piece)
    return client


def read_until_closed(client: socket.socket) -> bytes:
    received = b""
    with suppress(ConnectionResetError):
        while piece := client.recv(65536):
            received += piece
    return received


@pytest.mark.slow
@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n",
        FORM + b"Content-Length: 1000\r\n\r\n",
        FORM + b"Content-Length: 1000\r\n\r\nlangu",
        FORM + b"Transfer-Encoding: chunked\r\n\r\n5\r\nlangu\r\n",
    ],
    ids=["nothing", "empty-line", "half-a-head", "no-body", "half-a-body", "half-a-chunked-body"],
)
def test_incomplete_request_is_disconnected(sent: bytes):
    with served() as server:
        assert read_until_closed(connect(server, sent)) == b""
        wait_for(lambda: not server.server_state.connections)


@pytest.mark.slow
def test_incomplete_second_request_is_disconnected():
    with served() as server:
        client = connect(server, b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert client.recv(65536).startswith(b"HTTP/1.1 200 OK")
        client.sendall(b"\r\n")  # not a request yet, but the connection is no longer idle
        read_until_closed(client)
        wait_for(lambda: not server.server_state.connections)


@pytest.mark.parametrize(
    ("bytes_a_second", "is_cut"), [(1_000, False), (100, True), (0, True)], ids=["slow-phone", "drip", "silent"]
)
def test_slow_body_is_disconnected_by_rate_not_size(bytes_a_second: int, is_cut: bool):
    """A slow phone takes over five hours for 20 MB."""
    progress = Progress(MIN_RATES[BODY], now=0, received=0)
    checks = (progress.is_too_slow(now=now, received=now * bytes_a_second) for now in range(0, 20_000, 5))
    assert any(checks) == is_cut


@pytest.mark.slow
def test_stream_before_pipelined_request_ends_with_reader():
    with served(GuardedConnection) as server:
        get = "GET {} HTTP/1.1\r\nHost: localhost\r\n\r\n"
        client = connect(server, (get.format("/leaderboard/stream/") + get.format("/livez")).encode())
        assert client.recv(1000).startswith(b"HTTP/1.1 200 OK")
        [connection] = server.server_state.connections
        server.servers[0].get_loop().call_soon_threadsafe(connection.transport.abort)
        wait_for(lambda: not stream_slots.open_slots())
        client.close()


@pytest.mark.slow
def test_reader_that_reads_nothing_is_disconnected(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(connections, "USER_TIMEOUT_S", 1)
    key = stream_key("flood", 0)
    piece = entry([TurnEvent("text", "left", "x" * 100_000)])
    for _ in range(200):
        valkey.connection().xadd(key, piece)
    path = f"/stream/{TurnToken('flood', 0, 'api').signed()}/"
    with served(GuardedConnection) as server:
        client = connect(server, f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        wait_for(lambda: stream_slots.open_slots())
        wait_for(lambda: not server.server_state.connections)
        wait_for(lambda: not stream_slots.open_slots())
        client.close()


def test_descriptor_limit_is_raised_to_maximum(monkeypatch: pytest.MonkeyPatch):
    raised = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1024, 524_288))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: raised.append(limits))
    assert connections.raise_descriptor_limit() == 65_336
    assert raised == [(65_536, 524_288)]
