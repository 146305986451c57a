from typing import Literal

import msgspec

from common.child_process.process import ChildFailed, run_once
from uploads.reading.findings import Finding, Logo, Picture, Reason, Refusal, Text, Unreadable
from uploads.reading.sniffing import Kind

# An icon is a picture that becomes a small square.
ReadAs = Kind | Literal["icon"]


def read(content: bytes, kind: ReadAs, media_type: str = "") -> Text | Picture:
    """Read in a child process, 15 seconds at most. media_type: as detected; "" detects it. Raises Unreadable."""
    finding = _finding(content, kind, media_type)
    if isinstance(finding, Text | Picture):
        return finding
    raise TypeError(kind)


def read_logo(content: bytes) -> Logo:
    """Re-encode an operator's logo like `read`. Raises Unreadable."""
    finding = _finding(content, "logo")
    if isinstance(finding, Logo):
        return finding
    raise TypeError("logo")


def _finding(content: bytes, kind: str, media_type: str = "") -> Text | Picture | Logo:
    try:
        output = run_once("uploads.reading.child", kind, media_type, content=content)
    except ChildFailed as error:
        raise Unreadable(Reason.TOO_DEMANDING) from error
    finding: Finding = msgspec.msgpack.decode(output, type=Finding)
    if isinstance(finding, Refusal):
        raise Unreadable(Reason(finding.reason))
    return finding
