"""One web process: `python -m arena_site.embedded.web --bind 127.0.0.1 --port 8000`.

Several may share the port (SO_REUSEPORT): the kernel spreads connections over them better than a parent would.
"""

import argparse
import socket

import uvicorn

from common import counters

GRACE_S = 3  # for open streams, before they are cut


def shared_socket(bind: str, port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET6 if ":" in bind else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listener.bind((bind, port))
    return listener


def serve(bind: str, port: int) -> None:
    """Until SIGTERM."""
    config = uvicorn.Config(
        "arena_site.asgi:application",
        loop="uvloop",
        http="httptools",
        ws="none",
        lifespan="off",
        timeout_graceful_shutdown=GRACE_S,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # common.client_ip decides whom to believe
        log_config=None,
    )
    config.load()  # with the settings, which counting needs
    counters.start()
    uvicorn.Server(config).run(sockets=[shared_socket(bind, port)])


if __name__ == "__main__":
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--bind", default="127.0.0.1")
    arguments.add_argument("--port", type=int, default=8000)
    given = arguments.parse_args()
    serve(given.bind, given.port)
