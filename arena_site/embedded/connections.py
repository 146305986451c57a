"""HTTP connections that end when their peer stands still, and the descriptors they need.

uvicorn limits how long a connection may be idle between two requests, but not how long a request may take to arrive,
nor how long a response may wait for a peer that reads nothing.
"""

import asyncio
import math
import resource
import socket
from typing import Any, NamedTuple

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

CHECK_EVERY_S = 5.0
# The system ends a connection whose peer acknowledges nothing, or has no room for what is sent, for so long. It also
# notices a phone that has left its network, whose streams would otherwise count for a quarter of an hour.
NOTHING_TAKEN_S = 60
# More are of no use to one process.
MAX_DESCRIPTORS = 65_536
# For the database, Valkey, files and logs.
OTHER_DESCRIPTORS = 200


class Pace(NamedTuple):
    """At least `least` bytes within `window_s` seconds."""

    window_s: float
    least: float


# A head has to arrive as a whole; a body only has to get on, however long it takes altogether.
HEAD, BODY = "head", "body"
PACES = {HEAD: Pace(20, math.inf), BODY: Pace(30, 8_000)}


class Progress:
    """Whether what is waited for keeps its pace."""

    def __init__(self, pace: Pace, *, now: float, moved: int) -> None:
        self._pace, self._since, self._moved = pace, now, moved

    def is_too_slow(self, *, now: float, moved: int) -> bool:
        """moved: bytes until now; only differences count."""
        if moved - self._moved >= self._pace.least:
            self._since, self._moved = now, moved
        return now - self._since > self._pace.window_s


class GuardedConnection(HttpToolsProtocol):
    """uvicorn's protocol; a peer that begins a request and does not get on with it is cut off."""

    check_every_s = CHECK_EVERY_S
    paces = PACES

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._received = 0
        self._waits_for = ""
        self._running: RequestResponseCycle | None = None
        self._check_later()

    def connection_lost(self, exc: Exception | None) -> None:
        self._checking.cancel()
        super().connection_lost(exc)
        # uvicorn tells only the newest request, which is another one when requests were pipelined.
        if self._running is not None and self._running is not self.cycle:
            self._running.disconnected = True
            self._running.message_event.set()

    def data_received(self, data: bytes) -> None:
        self._received += len(data)
        super().data_received(data)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._running = cycle
        super()._start_asgi_task(cycle, app)

    def _check_later(self) -> None:
        self._checking = self.loop.call_later(self.check_every_s, self._check)

    def _check(self) -> None:
        now, waits_for = self.loop.time(), self._what_is_waited_for()
        if waits_for and waits_for != self._waits_for:
            self._progress = Progress(self.paces[waits_for], now=now, moved=self._received)
        self._waits_for = waits_for
        if waits_for and self._progress.is_too_slow(now=now, moved=self._received):
            self.logger.info("a connection is cut: the %s of its request does not arrive", waits_for)
            self.transport.abort()
        else:
            self._check_later()

    def _what_is_waited_for(self) -> str:
        if self.flow.read_paused or self.transport.is_closing():
            return ""
        if self.cycle is None or self.cycle.response_complete:
            return HEAD if self.timeout_keep_alive_task is None else ""
        return BODY if self.cycle.more_body else ""


def listening_socket(bind: str, port: int) -> socket.socket:
    """Several processes may listen on one port; connections inherit the options."""
    listener = socket.socket(socket.AF_INET6 if ":" in bind else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, NOTHING_TAKEN_S * 1000)
    listener.bind((bind, port))
    return listener


def raise_descriptor_limit() -> int:
    """Allow this process as many descriptors as it may have; return for how many connections they suffice."""
    soft, hard = (
        MAX_DESCRIPTORS if limit == resource.RLIM_INFINITY else limit
        for limit in resource.getrlimit(resource.RLIMIT_NOFILE)
    )
    allowed = max(soft, min(hard, MAX_DESCRIPTORS))
    if allowed > soft:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    return max(allowed - OTHER_DESCRIPTORS, allowed // 2)
