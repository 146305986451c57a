"""Results of reading a file. No Django: the child process uses them, too."""

from enum import StrEnum

import msgspec

# The length of a thick book, beyond the context of any model.
MAX_CHARACTERS = 1_000_000


class Reason(StrEnum):
    """Reasons why a stored file cannot be used; uploads.models has their sentences."""

    ENCRYPTED = "encrypted"
    NO_TEXT = "no_text"
    TOO_MANY_PAGES = "too_many_pages"
    TOO_LONG = "too_long"
    TOO_DEMANDING = "too_demanding"
    TOO_MANY_PIXELS = "too_many_pixels"
    MACROS = "macros"
    EXTERNAL_LINKS = "external_links"
    DAMAGED = "damaged"
    INTERRUPTED = "interrupted"


class Unreadable(Exception):
    """Raised for a file that cannot be used."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason = reason


class NoteKind(StrEnum):
    """Kinds of notes on a file that was read; uploads.notes has their sentences."""

    FRAMES_LEFT_OUT = "frames_left_out"
    ENCODING_ASSUMED = "encoding_assumed"
    CONTROLS_LEFT_OUT = "controls_left_out"
    CHARACTERS_BROKEN = "characters_broken"
    HIDDEN_SHEETS = "hidden_sheets"
    LINES_IN_OTHER_ENCODING = "lines_in_other_encoding"


class Note(msgspec.Struct):
    """A part of a file that was left out, or an assumption that reading made.

    count: how often, 0 if that says nothing. detail: a name from the file, or "".
    """

    kind: NoteKind
    count: int = 0
    detail: str = ""


class Text(msgspec.Struct, tag=True):
    """Texts of at least one page; `reader` is the library with its version, `encoding` that of a text."""

    pages: list[str]
    reader: str
    notes: list[Note] = []
    encoding: str = ""


class Picture(msgspec.Struct, tag=True):
    """A JPEG or PNG, re-encoded from pixels without metadata."""

    content: bytes
    media_type: str
    width: int
    height: int
    reader: str
    notes: list[Note] = []


class Logo(msgspec.Struct, tag=True):
    """PNGs re-encoded from pixels, with transparency: the logo, and a square icon of it."""

    content: bytes
    icon: bytes
    width: int
    height: int


class Refusal(msgspec.Struct, tag=True):
    reason: str


Finding = Text | Picture | Logo | Refusal
