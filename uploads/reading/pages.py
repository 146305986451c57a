"""Pages of a document as the child process sends them one by one, and their text. No Django."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from uploads.reading.findings import Note, NoteKind, Reason, Text, Unreadable

MAX_PAGES = 1_000
# A thousand full pages have as many, and the longest contexts of models.
MAX_CHARACTERS = 4_000_000
# A smaller share of assumed signs are mostly ornaments.
MIN_ASSUMED_SHARE = 0.01


class Page(msgspec.Struct, tag=True):
    """A page that was read.

    total: pages of the document. unreadable: signs replaced by U+FFFD; assumed: signs without a Unicode value in the
    file. state: "blank" has nothing on it, "drawn" has no text. is_cut: text beyond the limit was left out.
    """

    text: str
    total: int
    unreadable: int = 0
    assumed: int = 0
    state: Literal["", "blank", "drawn", "damaged"] = ""
    is_cut: bool = False


def text_of(pages: Sequence[Page], reader: str, notes: Sequence[Note] = ()) -> Text:
    """Return the text with notes on what it lacks. Raises Unreadable if there is none."""
    if not any(page.text.strip() for page in pages):
        is_damaged = not pages or all(page.state == "damaged" for page in pages)
        raise Unreadable(Reason.DAMAGED if is_damaged else Reason.NO_TEXT)
    return Text([page.text for page in pages], reader, [*_notes(pages), *notes])


def _notes(pages: Sequence[Page]) -> list[Note]:
    read, total = len(pages), pages[0].total
    unreadable, assumed = sum(page.unreadable for page in pages), sum(page.assumed for page in pages)
    characters = sum(len(page.text) for page in pages)
    found = [
        (NoteKind.PAGES_WITHOUT_TEXT, sum(page.state == "drawn" for page in pages)),
        (NoteKind.PAGES_DAMAGED, sum(page.state == "damaged" for page in pages)),
        (NoteKind.SIGNS_UNREADABLE, unreadable),
        (NoteKind.SIGNS_ASSUMED, assumed if assumed > MIN_ASSUMED_SHARE * characters else 0),
    ]
    notes = [Note(kind, count) for kind, count in found if count]
    if pages[-1].is_cut:
        notes.insert(0, Note(NoteKind.CHARACTERS_LEFT_OUT, read, str(total)))
    elif read < total:
        kind = NoteKind.PAGES_LEFT_OUT if read == MAX_PAGES else NoteKind.READING_STOPPED
        notes.insert(0, Note(kind, total - read, str(read)))
    return notes
