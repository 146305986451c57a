"""Score answers from the socket on stdin within limits of time and memory.

It runs checks that may take hours or gigabytes, and plug-ins. It has no database, settings or keys.
"""

import os
import resource
import signal
import socket
import sys
import tempfile
from functools import lru_cache
from pathlib import Path

import msgspec

from benchmarks.scoring.check import Check, Group, Prepared
from benchmarks.scoring.evaluation import evaluate, failed
from benchmarks.scoring.messages import READY, FindErrors, Reply, Request, Score
from benchmarks.scoring.plugins import Plugins
from benchmarks.scoring.registry import Registry
from common.child_process.frames import pack, receive
from common.child_process.limits import limit_process

# All libraries loaded take 150 MB.
MEMORY_BYTES = 320 << 20
NICENESS = 10
# Its owner kills it before; these end a child whose owner was killed.
MAX_CPU_S = 10
LOADING_MAX_CPU_S = 120
MAX_S = 600


class ScoringService:
    """Replies to requests, one after another."""

    def __init__(self, plugins: Plugins) -> None:
        self._plugins = plugins
        self._registry = Registry(plugins.find)
        self._prepared = lru_cache(maxsize=512)(self._prepare)

    def load(self, request: Request) -> None:
        if isinstance(request, Score):
            self._prepared(bytes(request.check))

    def reply(self, request: Request) -> Reply:
        if isinstance(request, Score):
            prepared = self._prepared(bytes(request.check))
            verdict = (
                failed(prepared) if isinstance(prepared, str) else evaluate(prepared, request.answer, request.target)
            )
            return Reply(_resident_bytes(), verdict)
        if isinstance(request, FindErrors):
            return Reply(_resident_bytes(), errors=self._registry.errors(request.check, request.position))
        return Reply(_resident_bytes(), plugins=self._plugins.states())

    def _prepare(self, encoded: bytes) -> Prepared | str:
        """Return the reason if a check is refused."""
        try:
            prepared = self._registry.prepare(msgspec.msgpack.decode(encoded, type=Check))
            _load(prepared)
        except Exception as error:
            return str(error)
        return prepared


def _load(prepared: Prepared) -> None:
    for nested in prepared.nested:
        _load(nested)
    if prepared.scorer is not None and not isinstance(prepared.scorer, Group):
        prepared.scorer.load()


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def _set_limits() -> None:
    os.nice(NICENESS)
    limit_process(MEMORY_BYTES)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A library asks for it when it is imported; Python finds one by writing a file, which the limit forbids.
    tempfile.tempdir = os.sep


def main() -> None:
    _set_limits()
    service = ScoringService(Plugins(tuple(sys.argv[1:])))
    owner = socket.socket(fileno=0)
    while (content := receive(owner)) is not None:
        request: Request = msgspec.msgpack.decode(content, type=Request)
        signal.alarm(MAX_S)
        signal.setitimer(signal.ITIMER_PROF, LOADING_MAX_CPU_S)
        service.load(request)
        owner.sendall(pack(READY))
        signal.setitimer(signal.ITIMER_PROF, MAX_CPU_S)
        reply = service.reply(request)
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
        owner.sendall(pack(msgspec.msgpack.encode(reply)))


if __name__ == "__main__":
    main()
