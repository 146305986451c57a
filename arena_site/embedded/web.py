"""One web process: `python -m arena_site.embedded.web --bind 127.0.0.1 --port 8000`.

Several may share the port (SO_REUSEPORT).
"""

import argparse
import asyncio
import socket
from contextlib import suppress
from types import FrameType

import uvicorn
from django.conf import settings

from arena_site.embedded.connections import GuardedConnection, listening_socket, raise_descriptor_limit
from arena_site.version import VERSION
from common.tracing import service as tracing_service
from common.valkey import counters
from models_registry.health import oddities

GRACE_S = 3  # before open streams are closed
SETTLE_S = 5  # for closed streams to stop calls and store what they cost
TICK_S = 1.0


class Server(uvicorn.Server):
    """Server that wakes once a second, for the header Date, and at a signal.

    It waits for requests which it cancelled; uvicorn's would leave them amid their cleaning up.
    """

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._signalled = asyncio.Event()

    async def main_loop(self) -> None:
        self._loop = asyncio.get_running_loop()
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                async with asyncio.timeout(TICK_S):
                    await self._signalled.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        if cancelled := set(self.server_state.tasks):
            await asyncio.wait(cancelled, timeout=SETTLE_S)
        await asyncio.to_thread(tracing_service.stop)  # here: uvicorn ends the process by the signal that it got

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._signalled.set)


def serve(bind: str, port: int) -> None:
    config = uvicorn.Config(
        "arena_site.asgi:application",
        loop="uvloop",
        http=GuardedConnection,
        ws="none",
        lifespan="off",
        timeout_graceful_shutdown=GRACE_S,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # common.client_ip decides which proxies to trust
        log_config=None,
    )
    config.load()  # loads Django's settings, too
    config.limit_concurrency = min(settings.ARENA_CONNECTIONS, raise_descriptor_limit())
    tracing_service.start(VERSION)
    counters.start("web")
    oddities.start()
    Server(config).run(sockets=[listening_socket(bind, port)])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--bind", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    arguments = parser.parse_args()
    serve(arguments.bind, arguments.port)
