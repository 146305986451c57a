"""One web process: `python -m arena_site.embedded.web --bind 127.0.0.1 --port 8000`.

Several may share the port (SO_REUSEPORT): the kernel spreads connections over them better than a parent would.
"""

import argparse

import uvicorn
from django.conf import settings

from arena_site.embedded.connections import GuardedConnection, listening_socket, raise_descriptor_limit
from common.valkey import counters

GRACE_S = 3  # for open streams, before they are cut


def serve(bind: str, port: int) -> None:
    """Until SIGTERM."""
    config = uvicorn.Config(
        "arena_site.asgi:application",
        loop="uvloop",
        http=GuardedConnection,
        ws="none",
        lifespan="off",
        timeout_graceful_shutdown=GRACE_S,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # common.client_ip decides whom to believe
        log_config=None,
    )
    config.load()  # with the settings
    config.limit_concurrency = min(settings.ARENA_CONNECTIONS, raise_descriptor_limit())
    counters.start()
    uvicorn.Server(config).run(sockets=[listening_socket(bind, port)])


if __name__ == "__main__":
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--bind", default="127.0.0.1")
    arguments.add_argument("--port", type=int, default=8000)
    given = arguments.parse_args()
    serve(given.bind, given.port)
