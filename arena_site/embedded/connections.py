"""Timeouts for slow HTTP peers, and the descriptor limit.

uvicorn limits neither how long a request may take to arrive, nor how long a response may wait for a peer that reads
nothing.
"""

import asyncio
import math
import resource
import socket
from typing import Any, NamedTuple

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

CHECK_EVERY_S = 5.0
# The kernel closes a connection whose peer acknowledges nothing, or has no room for data, for this long (see
# TCP_USER_TIMEOUT). Without it, streams of a phone that has left its network would stay open for a quarter of an hour.
USER_TIMEOUT_S = 60
# One process cannot use more.
MAX_DESCRIPTORS = 65_536
# Descriptors of the database, Valkey, files and logs.
OTHER_DESCRIPTORS = 200


class MinRate(NamedTuple):
    window_s: float
    min_bytes: float


# A head must arrive completely within its window; a body may take any time while it keeps its rate.
HEAD, BODY = "head", "body"
MIN_RATES = {HEAD: MinRate(20, math.inf), BODY: MinRate(30, 8_000)}


class Progress:
    """Compares the bytes received with a minimum rate."""

    def __init__(self, min_rate: MinRate, *, now: float, received: int) -> None:
        self._min_rate, self._since, self._received = min_rate, now, received

    def is_too_slow(self, *, now: float, received: int) -> bool:
        """Return whether the rate is missed. received: bytes so far; only differences count."""
        if received - self._received >= self._min_rate.min_bytes:
            self._since, self._received = now, received
        return now - self._since > self._min_rate.window_s


class GuardedConnection(HttpToolsProtocol):
    """Closes connections whose request arrives too slowly."""

    check_every_s = CHECK_EVERY_S
    min_rates = MIN_RATES

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._received = 0
        self._expected = ""
        self._running: RequestResponseCycle | None = None
        self._check_later()

    def connection_lost(self, exc: Exception | None) -> None:
        self._checking.cancel()
        super().connection_lost(exc)
        # uvicorn notifies only the newest request; with pipelined requests the running one is older.
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
        now, expected = self.loop.time(), self._expected_part()
        if expected and expected != self._expected:
            self._progress = Progress(self.min_rates[expected], now=now, received=self._received)
        self._expected = expected
        if expected and self._progress.is_too_slow(now=now, received=self._received):
            self.logger.info("connection closed: the %s of its request arrives too slowly", expected)
            self.transport.abort()
        else:
            self._check_later()

    def _expected_part(self) -> str:
        """Return HEAD or BODY while the peer has to send it, else ""."""
        if self.flow.read_paused or self.transport.is_closing():
            return ""
        if self.cycle is None or self.cycle.response_complete:
            return HEAD if self.timeout_keep_alive_task is None else ""
        return BODY if self.cycle.more_body else ""


def listening_socket(bind: str, port: int) -> socket.socket:
    """Return a socket whose port other processes may share; connections inherit its options."""
    listener = socket.socket(socket.AF_INET6 if ":" in bind else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, USER_TIMEOUT_S * 1000)
    listener.bind((bind, port))
    return listener


def raise_descriptor_limit() -> int:
    """Raise the soft limit of descriptors to the hard one; return the number of connections it allows."""
    soft, hard = (
        MAX_DESCRIPTORS if limit == resource.RLIM_INFINITY else limit
        for limit in resource.getrlimit(resource.RLIMIT_NOFILE)
    )
    allowed = max(soft, min(hard, MAX_DESCRIPTORS))
    if allowed > soft:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    return max(allowed - OTHER_DESCRIPTORS, allowed // 2)
