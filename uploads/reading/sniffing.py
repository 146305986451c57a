"""Detect the type of a file by its content, because names prove nothing. No Django."""

from typing import Literal, NamedTuple

import msgspec

from common.text.encodings import decode
from uploads.reading.kinds import OLE, PDF, detect_document_type, detect_picture_type, extension, name_unsupported
from uploads.reading.texts import with_line_feeds

Kind = Literal["document", "image"]

# Longer JSON is labelled plain text: parsing it would only gain the label.
MAX_JSON_BYTES = 2_000_000
_SPACE_OR_BOM = b" \t\r\n\xef\xbb\xbf"
# Only their extensions tell these kinds of text apart; they are processed alike.
_TYPES_BY_EXTENSION = {".csv": "text/csv", ".tsv": "text/tab-separated-values", ".md": "text/markdown"}


class FileType(NamedTuple):
    media_type: str
    kind: Kind


def detect_type(content: bytes, name: str) -> FileType | None:
    """Return None for an unsupported type. `name` only breaks ties."""
    if content.lstrip(_SPACE_OR_BOM).startswith(b"%PDF-"):
        return FileType(PDF, "document")
    if (document_type := detect_document_type(content, name)) is not None:
        return FileType(document_type, "document")
    if (picture_type := detect_picture_type(content, name)) is not None:
        return FileType(picture_type, "image")
    if content.startswith(OLE) or name_unsupported(content, name) is not None:
        return None
    text = decode_text(content)
    return None if text is None else FileType(_detect_text_type(text, name), "document")


def decode_text(content: bytes) -> str | None:
    """Decode a text in its likeliest encoding, without control characters; return None if it is no text."""
    decoded = decode(content)
    return with_line_feeds(decoded.text) if decoded and decoded.text else None


def _detect_text_type(text: str, name: str) -> str:
    if text.lstrip()[:1] in ("{", "[") and len(text) <= MAX_JSON_BYTES and _is_json(text):
        return "application/json"
    return _TYPES_BY_EXTENSION.get(extension(name), "text/plain")


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True
