"""Child processes that score: started when first needed, killed when a check exceeds its limits, replaced."""

import logging
import os
import queue
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from benchmarks.scoring.check import Check
from benchmarks.scoring.evaluation import failed
from benchmarks.scoring.messages import FindErrors, ListPlugins, Reply, Request, Score
from benchmarks.scoring.plugins import PluginState
from benchmarks.scoring.ports import ScoredAnswer, Target, Verdict
from benchmarks.scoring.refusals import CheckError, Refusal
from common.child_process.frames import pack, receive
from common.child_process.process import ENVIRONMENT, kill, start_connected

logger = logging.getLogger(__name__)

# Time that a child runs or sleeps; at its low priority, it may wait longer for a processor.
TIMEOUT_S = 5.0
# Imports of a check's library and of plug-ins: a second.
LOADING_TIMEOUT_S = 60.0
# sympy and compiled schemas are cached; beyond this, a fresh child takes over.
MAX_RESIDENT_BYTES = 180 << 20


class ChildTimeout(Exception):
    pass


class ChildEnded(Exception):
    pass


class ScoringChild:
    """One child process. Belongs to one thread at a time."""

    def __init__(self, plugins: Sequence[str] = (), timeout_s: float = TIMEOUT_S) -> None:
        self.plugins = tuple(plugins)
        self._timeout_s = timeout_s
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def exchange(self, request: Request) -> Reply:
        """Raises ChildTimeout or ChildEnded, and then has no child until the next request."""
        content = pack(msgspec.msgpack.encode(request))
        is_fresh = self._process is None
        try:
            try:
                connection = self._begin(content)
            except ChildEnded:
                if is_fresh:
                    raise
                self.close()  # it had ended before this request
                connection = self._begin(content)
            received = self._receive(connection, within=self._timeout_s)
        except BaseException:
            self.close()
            raise
        reply = msgspec.msgpack.decode(received, type=Reply)
        if reply.resident_bytes > MAX_RESIDENT_BYTES:
            self.close()
        return reply

    def _begin(self, content: bytes) -> socket.socket:
        """Send a request, and return when the child has imported what the request needs."""
        connection = self._connection()
        connection.settimeout(LOADING_TIMEOUT_S)
        try:
            connection.sendall(content)
        except TimeoutError:
            raise ChildTimeout from None
        except OSError as error:
            raise ChildEnded from error
        self._receive(connection, within=LOADING_TIMEOUT_S)
        return connection

    def _receive(self, connection: socket.socket, *, within: float) -> bytes:
        """Return the next message. within: seconds, without those in which the child waits for a processor."""
        assert self._process is not None
        pid = self._process.pid
        deadline = time.monotonic() - waited_for_processor_s(pid) + within
        try:
            while (remaining := deadline + waited_for_processor_s(pid) - time.monotonic()) > 0:
                connection.settimeout(remaining)
                try:
                    connection.recv(1, socket.MSG_PEEK)
                except TimeoutError:
                    continue
                content = receive(connection)
                if content is None:
                    raise ChildEnded
                return content
        except TimeoutError:
            raise ChildTimeout from None
        except OSError as error:
            raise ChildEnded from error
        raise ChildTimeout

    def close(self) -> None:
        process, connection, self._process, self._socket = self._process, self._socket, None, None
        if connection is not None:
            connection.close()
        if process is not None:
            kill(process)

    def _connection(self) -> socket.socket:
        if self._socket is None:
            environment = {**ENVIRONMENT, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
            if "PYTHONPATH" in os.environ:  # plug-ins may be there
                environment["PYTHONPATH"] = os.environ["PYTHONPATH"]
            self._process, self._socket = start_connected(
                "benchmarks.scoring.child", *self.plugins, environment=environment
            )
        return self._socket


def waited_for_processor_s(pid: int) -> float:
    """Return the seconds in which the process was ready to run and had no processor; 0 if the kernel does not say."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
    except OSError:
        return 0.0


class ScoringChildren:
    """A fixed number of children for any number of threads, which wait for a free one."""

    def __init__(self, number: int | None = None, plugins: Sequence[str] = (), timeout_s: float = TIMEOUT_S) -> None:
        self._timeout_s = timeout_s
        self._children = [ScoringChild(plugins, timeout_s) for _ in range(number or os.cpu_count() or 1)]
        # The one used last first: a second one is started only when two are needed at once.
        self._free: queue.LifoQueue[ScoringChild] = queue.LifoQueue()
        for child in reversed(self._children):
            self._free.put(child)

    def score(self, check: Check, answer: ScoredAnswer, target: Target) -> Verdict:
        """Return a verdict; one without a value if the check took too long or ended the child."""
        try:
            encoded = msgspec.Raw(msgspec.msgpack.encode(check))
            with self._child() as child:
                verdict = child.exchange(Score(encoded, answer, target)).verdict
        except ChildTimeout:
            return Verdict(error="scorer_timeout", detail=f"stopped after {self._timeout_s:g} s")
        except ChildEnded:
            return failed("the check ended its process, mostly for want of memory")
        except (UnicodeEncodeError, OverflowError) as error:
            return failed(str(error))
        assert verdict is not None
        return verdict

    def errors(self, check: Check, position: str) -> list[CheckError]:
        """Return reasons to refuse a check whose settings only the child may read."""
        try:
            with self._child() as child:
                return child.exchange(FindErrors(check, position)).errors
        except (ChildTimeout, ChildEnded):
            text = "the settings need more time or memory than a check may have"
            return [Refusal("other", text=text).at(position)]
        except (UnicodeEncodeError, OverflowError) as error:
            return [Refusal("other", text=str(error)).at(position)]

    def plugins(self) -> list[PluginState]:
        """Return the plug-ins that are named in the settings, loaded or with the reason why not."""
        with self._child() as child:
            try:
                return child.exchange(ListPlugins()).plugins
            except (ChildTimeout, ChildEnded):
                return [PluginState(name, error="a plug-in hangs or ends its process") for name in child.plugins]

    def pids(self) -> list[int]:
        return [pid for child in self._children if (pid := child.pid) is not None]

    def close(self) -> None:
        for child in self._children:
            child.close()

    @contextmanager
    def _child(self) -> Iterator[ScoringChild]:
        child = self._free.get()
        try:
            yield child
        finally:
            self._free.put(child)
