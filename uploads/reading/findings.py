"""What comes of reading a file: its text, a picture made fit for models, or the reason why there is neither.

No Django here: the child process that reads files uses it too.
"""

from enum import StrEnum

import msgspec

# A thick book has as many; more than that no model reads.
MOST_CHARACTERS = 1_000_000


class Reason(StrEnum):
    """Why a file that was kept cannot be used. For people: uploads.reasons."""

    ENCRYPTED = "encrypted"
    NO_TEXT = "no_text"
    TOO_MANY_PAGES = "too_many_pages"
    TOO_LONG = "too_long"
    TOO_DEMANDING = "too_demanding"
    TOO_MANY_PIXELS = "too_many_pixels"
    DAMAGED = "damaged"
    INTERRUPTED = "interrupted"


class Unreadable(Exception):
    """A file that cannot be used; `reason` is a Reason."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason = reason


class Text(msgspec.Struct, tag=True):
    """`pages`: at least one; `reader` names what read them, with its version."""

    pages: list[str]
    reader: str


class Picture(msgspec.Struct, tag=True):
    """A JPEG or PNG that nothing but its pixels was taken over into."""

    content: bytes
    media_type: str
    width: int
    height: int
    reader: str


class Refusal(msgspec.Struct, tag=True):
    reason: str


Finding = Text | Picture | Refusal
