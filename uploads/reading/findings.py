"""Results of reading a file. No Django: the child process uses them, too."""

from collections.abc import Sequence
from enum import StrEnum

import msgspec

# The length of a thick book, beyond the context of any model.
MAX_CHARACTERS = 1_000_000
# Names of files in a note, and characters of each.
MAX_NAMES = 5
MAX_NAME = 60


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
    PICTURES_LEFT_OUT = "pictures_left_out"
    CHARTS_LEFT_OUT = "charts_left_out"
    OBJECTS_LEFT_OUT = "objects_left_out"
    OUTPUTS_LEFT_OUT = "outputs_left_out"
    DELETIONS_LEFT_OUT = "deletions_left_out"
    MACROS_LEFT_OUT = "macros_left_out"
    MARKUP_LEFT_OUT = "markup_left_out"
    SOURCE_SENT = "source_sent"
    LINKS_NOT_FOLLOWED = "links_not_followed"
    HIDDEN_SHEETS = "hidden_sheets"
    HIDDEN_SLIDES = "hidden_slides"
    FORMULAS_WITHOUT_VALUE = "formulas_without_value"
    PARTS_UNREADABLE = "parts_unreadable"
    ENCODING_ASSUMED = "encoding_assumed"
    CONTROLS_LEFT_OUT = "controls_left_out"
    CHARACTERS_BROKEN = "characters_broken"
    LINES_IN_OTHER_ENCODING = "lines_in_other_encoding"
    # count is the last page, detail the number of pages.
    CHARACTERS_LEFT_OUT = "characters_left_out"
    # count pages after the page in detail.
    PAGES_LEFT_OUT = "pages_left_out"
    READING_STOPPED = "reading_stopped"
    PAGES_WITHOUT_TEXT = "pages_without_text"
    PAGES_DAMAGED = "pages_damaged"
    SIGNS_UNREADABLE = "signs_unreadable"
    SIGNS_ASSUMED = "signs_assumed"
    ATTACHMENTS_LEFT_OUT = "attachments_left_out"
    END_MISSING = "end_missing"
    FORM_UNREADABLE = "form_unreadable"
    FORM_LABELS_LEFT_OUT = "form_labels_left_out"


class Note(msgspec.Struct):
    """A part of a file that was left out, or an assumption that reading made.

    count: how often, 0 if that says nothing. detail: a name from the file, or "".
    """

    kind: NoteKind
    count: int = 0
    detail: str = ""


def listed(names: Sequence[str]) -> str:
    """Return the first names of files as the detail of a note."""
    shown = ", ".join(name[:MAX_NAME] for name in names[:MAX_NAMES])
    return f"{shown}, …" if len(names) > MAX_NAMES else shown


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
