import logging
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Literal

import msgspec

from uploads.reading.findings import Finding, Logo, Picture, Reason, Refusal, Text, Unreadable
from uploads.reading.sniffing import Kind

# An icon is a picture that becomes a small square.
ReadAs = Kind | Literal["icon"]
logger = logging.getLogger(__name__)

TIMEOUT_S = 14.0
PROJECT_DIR = Path(__file__).resolve().parents[2]


def read(content: bytes, kind: ReadAs) -> Text | Picture:
    """Read in a child process, 15 seconds at most. Raises Unreadable."""
    finding = _finding(content, kind)
    if isinstance(finding, Text | Picture):
        return finding
    raise TypeError(kind)


def read_logo(content: bytes) -> Logo:
    """Re-encode an operator's logo like `read`. Raises Unreadable."""
    finding = _finding(content, "logo")
    if isinstance(finding, Logo):
        return finding
    raise TypeError("logo")


def _finding(content: bytes, kind: str) -> Text | Picture | Logo:
    output = run_child("uploads.reading.child", kind, content=content)
    finding: Finding = msgspec.msgpack.decode(output, type=Finding)
    if isinstance(finding, Refusal):
        raise Unreadable(Reason(finding.reason))
    return finding


def run_child(module: str, *arguments: str, content: bytes) -> bytes:
    """Return the output of a module that calls `process_limits.set_limits` first. Raises Unreadable."""
    child = subprocess.Popen(  # noqa: S603 (our own module)
        [sys.executable, "-s", "-m", module, *arguments],
        cwd=PROJECT_DIR, env={"PYTHONDONTWRITEBYTECODE": "1"}, start_new_session=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        output, _ = child.communicate(content, timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired as error:
        raise Unreadable(Reason.TOO_DEMANDING) from error
    finally:
        _kill(child)
    if child.returncode != 0:  # killed by the kernel, so the output is incomplete
        logger.warning("a file was not read: the child process ended with %s", child.returncode)
        raise Unreadable(Reason.TOO_DEMANDING)
    return output


def _kill(child: "subprocess.Popen[bytes]") -> None:
    if child.poll() is None:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
