"""One web process: `python -m arena_site.embedded.web --bind 127.0.0.1 --port 8000`.

Several may share the port (SO_REUSEPORT): the kernel balances connections better than a parent process would.
"""

import argparse

import uvicorn
from django.conf import settings

from arena_site.embedded.connections import GuardedConnection, listening_socket, raise_descriptor_limit
from common.valkey import counters

GRACE_S = 3  # before open streams are closed


def serve(bind: str, port: int) -> None:
    """Serve until SIGTERM."""
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
    counters.start()
    uvicorn.Server(config).run(sockets=[listening_socket(bind, port)])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--bind", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    arguments = parser.parse_args()
    serve(arguments.bind, arguments.port)
