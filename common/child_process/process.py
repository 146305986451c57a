"""Start a module of this project in a process of its own, without settings, keys or open files; kill it."""

import logging
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

logger = logging.getLogger(__name__)

PROJECT_DIR = Path(__file__).resolve().parents[2]
# Whole environment of a child.
ENVIRONMENT = {"PYTHONDONTWRITEBYTECODE": "1"}
TIMEOUT_S = 14.0


class ChildFailed(Exception):
    """Raised when a child was killed, by its limits or after its timeout, or ended with an error.

    output: all that it had written.
    """

    def __init__(self, output: bytes) -> None:
        super().__init__()
        self.output = output


def run_once(module: str, *arguments: str, content: bytes) -> bytes:
    """Return the output of a module that reads `content` from stdin; it calls `limit_run` first.

    Raises ChildFailed after TIMEOUT_S and for every exit status but 0.
    """
    child = _start(module, arguments, subprocess.PIPE, subprocess.PIPE, ENVIRONMENT)
    try:
        output, _ = child.communicate(content, timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired as error:
        raise ChildFailed(error.output or b"") from error
    finally:
        kill(child)
    if child.returncode != 0:
        logger.warning("the child process %s ended with %s", module, child.returncode)
        raise ChildFailed(output)
    return output


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
