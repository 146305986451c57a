"""Texts without a format, in any encoding. No Django."""

from common.text.encodings import decode
from uploads.reading.findings import MAX_CHARACTERS, Note, NoteKind, Reason, Text, Unreadable


def read_text(content: bytes, encoding: str = "") -> Text:
    """Return a text as one page. Raises Unreadable."""
    decoded = decode(content, encoding)
    if decoded is None:
        raise Unreadable(Reason.DAMAGED)
    text = with_line_feeds(decoded.text).strip("\n")
    if len(text) > MAX_CHARACTERS:
        raise Unreadable(Reason.TOO_LONG)
    if not text.strip():
        raise Unreadable(Reason.NO_TEXT)
    notes = [
        Note(kind, count, detail)
        for kind, count, detail in (
            (NoteKind.ENCODING_ASSUMED, 0, decoded.encoding if decoded.is_assumed else ""),
            (NoteKind.CONTROLS_LEFT_OUT, decoded.dropped, ""),
            (NoteKind.CHARACTERS_BROKEN, decoded.broken, ""),
            (NoteKind.LINES_IN_OTHER_ENCODING, decoded.other_lines, decoded.other),
        )
        if count or detail
    ]
    return Text([text], "text", notes, decoded.encoding)


def with_line_feeds(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
