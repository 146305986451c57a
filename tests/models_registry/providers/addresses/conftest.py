import socket
from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Fake name server: returns these addresses in turn, then always the last; without any it knows no name.

    Records the requested names.
    """

    def resolve_to(*addresses: str) -> list[str]:
        requested: list[str] = []

        def getaddrinfo(host: str, port: Any, *_: Any, **__: Any) -> list[Any]:
            requested.append(host)
            if not addresses:
                raise socket.gaierror(socket.EAI_NONAME, "unknown name")
            address = addresses[min(len(requested), len(addresses)) - 1]
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port)) for one in address.split()]

        monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
        return requested

    return resolve_to
