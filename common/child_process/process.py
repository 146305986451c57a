"""Start a module of this project in a process of its own, without settings, keys or open files; kill it."""

import logging
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

logger = logging.getLogger(__name__)

PROJECT_DIR = Path(__file__).resolve().parents[2]
# Whole environment of a child.
ENVIRONMENT = {"PYTHONDONTWRITEBYTECODE": "1"}
TIMEOUT_S = 14.0
_OUTPUT_EVERY_S = 1.0


class ChildFailed(Exception):
    """Raised when a child was killed, by its limits or after its timeout, or ended with an error.

    output: all that it had written. status: as of subprocess.Popen, None after the timeout.
    """

    def __init__(self, output: bytes, status: int | None = None) -> None:
        super().__init__()
        self.output = output
        self.status = status

    @property
    def has_crashed(self) -> bool:
        """Return whether native code failed: its limits end a child with other signals."""
        return self.status in (-signal.SIGSEGV, -signal.SIGBUS)


def run_once(
    module: str,
    *arguments: str,
    content: bytes,
    timeout_s: float | None = None,
    on_output: Callable[[bytes], None] | None = None,
) -> bytes:
    """Return the output of a module that reads `content` from stdin; it calls `limit_run` first.

    on_output: called once a second with all output so far.
    Raises ChildFailed after TIMEOUT_S, unless `timeout_s` is given, and for every exit status but 0.
    """
    child = _start(module, arguments, subprocess.PIPE, subprocess.PIPE, ENVIRONMENT)
    try:
        output = _output(child, content, timeout_s or TIMEOUT_S, on_output)
    finally:
        kill(child)
    if child.returncode != 0:
        logger.warning("the child process %s ended with %s", module, child.returncode)
        raise ChildFailed(output, child.returncode)
    return output


def _output(
    child: "subprocess.Popen[bytes]", content: bytes, timeout_s: float, on_output: Callable[[bytes], None] | None
) -> bytes:
    deadline = time.monotonic() + timeout_s
    unsent: bytes | None = content
    while True:
        left_s = max(0.0, deadline - time.monotonic())
        try:
            return child.communicate(unsent, timeout=min(left_s, _OUTPUT_EVERY_S) if on_output else left_s)[0]
        except subprocess.TimeoutExpired as error:
            unsent = None  # Popen keeps it, and refuses it a second time
            if on_output is None or time.monotonic() >= deadline:
                raise ChildFailed(error.output or b"") from error
            on_output(error.output or b"")


def start_connected(
    module: str, *arguments: str, environment: Mapping[str, str] = ENVIRONMENT
) -> "tuple[subprocess.Popen[bytes], socket.socket]":
    """Start a module that is kept, and return it with a socket to its stdin; it ends when that is closed."""
    ours, theirs = socket.socketpair()
    with theirs:
        try:
            return _start(module, arguments, theirs.fileno(), subprocess.DEVNULL, environment), ours
        except BaseException:
            ours.close()
            raise


def _start(
    module: str, arguments: tuple[str, ...], stdin: int, stdout: int, environment: Mapping[str, str]
) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(  # noqa: S603 (our own modules)
        [sys.executable, "-s", "-m", module, *arguments],
        cwd=PROJECT_DIR, env=environment, start_new_session=True,
        stdin=stdin, stdout=stdout, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def kill(child: "subprocess.Popen[bytes]") -> None:
    """Kill a child with every process that it started, and wait for its end."""
    if child.poll() is None:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
