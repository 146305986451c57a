"""Detect the type of a file by its content, because names prove nothing. No Django."""

import re
from typing import Literal, NamedTuple

import msgspec

from common.text.encodings import decode
from uploads.reading.kinds import (
    OLE,
    PDF,
    ZIP,
    detect_document_type,
    detect_picture_type,
    extension,
    name_unsupported,
)
from uploads.reading.texts import with_line_feeds

Kind = Literal["document", "image"]

# Longer JSON is labelled plain text: parsing it would only gain the label.
MAX_JSON_BYTES = 2_000_000
# Readers look for a PDF's header in as many bytes; behind them it must stand at the start of a line.
_PDF_HEADER_WITHIN = 1024
_PDF_HEADER = re.compile(rb"%PDF-\d\.\d")
# Files that may have a PDF among others: ZIP, OLE, gzip, 7z, RAR and pictures; tar archives have their mark later.
_CONTAINERS = (ZIP, OLE, b"\x1f\x8b", b"7z\xbc\xaf", b"Rar!", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF")
_LATE_PDF = re.compile(rb"(?:^|[\r\n\x00])(%PDF-\d\.\d[\r\n].{0,1024}?[\r\n]\d+ \d+ obj\b)", re.DOTALL)
_SPACE_OR_BOM = b" \t\r\n\xef\xbb\xbf"
_PDF_WITHOUT_HEADER = re.compile(rb"\s*(?:%[^\r\n]*[\r\n]\s*)*\d+ \d+ obj\b")
# Only their extensions tell these kinds of text apart; they are processed alike.
_TYPES_BY_EXTENSION = {".csv": "text/csv", ".tsv": "text/tab-separated-values", ".md": "text/markdown"}


class FileType(NamedTuple):
    media_type: str
    kind: Kind


def detect_type(content: bytes, name: str) -> FileType | None:
    """Return None for an unsupported type. `name` only breaks ties."""
    if _PDF_HEADER.search(content, 0, _PDF_HEADER_WITHIN) and pdf_start(content) is not None:
        return FileType(PDF, "document")
    if (document_type := detect_document_type(content, name)) is not None:
        return FileType(document_type, "document")
    if (picture_type := detect_picture_type(content, name)) is not None:
        return FileType(picture_type, "image")
    if pdf_start(content) is not None:
        return FileType(PDF, "document")
    if content.startswith(OLE) or name_unsupported(content, name) is not None:
        return None
    text = decode_text(content)
    return None if text is None else FileType(_detect_text_type(text, name), "document")


def pdf_start(content: bytes) -> int | None:
    """Return where a PDF begins in a file: other bytes may stand before it, or its header may be missing."""
    if content.startswith(_CONTAINERS) or content[257:262] == b"ustar":
        return None
    if early := _PDF_HEADER.search(content, 0, _PDF_HEADER_WITHIN):
        # A text about PDFs has no objects.
        is_pdf = not content[: early.start()].strip(_SPACE_OR_BOM) or b"endobj" in content
        return early.start() if is_pdf else None
    if b"%PDF-" in content and (late := _LATE_PDF.search(content)):
        return late.start(1)
    return 0 if _PDF_WITHOUT_HEADER.match(content) and b"endobj" in content and b"trailer" in content else None


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
