from collections.abc import Callable
from typing import Literal

import msgspec

from common.child_process.frames import unpack
from common.child_process.process import ChildFailed, run_once
from uploads.reading.findings import Finding, Logo, Picture, Reason, Refusal, Text, Unreadable
from uploads.reading.pages import Page, text_of
from uploads.reading.sniffing import Kind

# An icon is a picture that becomes a small square.
ReadAs = Kind | Literal["icon"]
# CPU time ends a child that works (common.child_process.limits), also on a busy machine; this ends one that sleeps.
TIMEOUT_S = 90.0

# Called once a second: pages read, and pages of the file; zeros where no page has been read.
OnProgress = Callable[[int, int], None]


def read(
    content: bytes, kind: ReadAs, media_type: str = "", on_progress: OnProgress = lambda read, total: None
) -> Text | Picture:
    """Read in a child process within 10 seconds of CPU time.

    media_type: as detected; "" detects it. Raises Unreadable.
    """
    finding = _finding(content, kind, media_type, on_progress)
    if isinstance(finding, Text | Picture):
        return finding
    raise TypeError(kind)


def read_logo(content: bytes) -> Logo:
    """Re-encode an operator's logo like `read`. Raises Unreadable."""
    finding = _finding(content, "logo", "", lambda read, total: None)
    if isinstance(finding, Logo):
        return finding
    raise TypeError("logo")


def _finding(content: bytes, kind: str, media_type: str, on_progress: OnProgress) -> Text | Picture | Logo:
    def on_output(output: bytes) -> None:
        pages = _pages(output)
        on_progress(len(pages), pages[-1].total if pages else 0)

    # A request waits for an icon or a logo.
    timeout_s = TIMEOUT_S if kind in ("document", "image") else None
    arguments = (kind, media_type)
    try:
        output = run_once(
            "uploads.reading.child", *arguments, content=content, timeout_s=timeout_s, on_output=on_output
        )
    except ChildFailed as error:
        return _partial_text(error.output, Reason.DAMAGED if error.has_crashed else Reason.TOO_DEMANDING)
    finding: Finding = msgspec.msgpack.decode(list(unpack(output))[-1], type=Finding)
    return _partial_text(output, Reason(finding.reason)) if isinstance(finding, Refusal) else finding


def _partial_text(output: bytes, reason: Reason) -> Text:
    """Return the text of the pages that a child had read. Raises Unreadable if there is none."""
    pages = _pages(output)
    if not any(page.text for page in pages):
        raise Unreadable(reason)
    return text_of(pages, "pypdfium2")


def _pages(output: bytes) -> list[Page]:
    messages = [msgspec.msgpack.decode(message, type=Page | Finding) for message in unpack(output)]
    return [message for message in messages if isinstance(message, Page)]
