"""Reading a file in a child process that cannot take more than its share (uploads.reading.child)."""

import logging
import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec

from uploads.reading.findings import Finding, Picture, Reason, Text, Unreadable
from uploads.reading.sniffing import Kind

logger = logging.getLogger(__name__)

WALL_S = 14.0
CODE = Path(__file__).resolve().parents[2]


def read(content: bytes, kind: Kind) -> Text | Picture:
    """A document's text or an image made fit for models. Raises Unreadable, within 15 seconds."""
    child = subprocess.Popen(  # noqa: S603 (our own module)
        [sys.executable, "-s", "-m", "uploads.reading.child", kind],
        cwd=CODE, env={"PYTHONDONTWRITEBYTECODE": "1"}, start_new_session=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        said, _ = child.communicate(content, timeout=WALL_S)
    except subprocess.TimeoutExpired as error:
        raise Unreadable(Reason.TOO_DEMANDING) from error
    finally:
        _end(child)
    if child.returncode != 0:  # by the kernel, in the middle of a word
        logger.warning("a file was given up: its reader ended with %s", child.returncode)
        raise Unreadable(Reason.TOO_DEMANDING)
    finding: Finding = msgspec.msgpack.decode(said, type=Finding)
    if isinstance(finding, Text | Picture):
        return finding
    raise Unreadable(Reason(finding.reason))


def _end(child: "subprocess.Popen[bytes]") -> None:
    if child.poll() is None:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
