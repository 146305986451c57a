"""Detect the type of a file by its content, because names prove nothing. No Django."""

import struct
from typing import Literal, NamedTuple

import msgspec

from common.text.encodings import decode
from uploads.reading.texts import with_line_feeds

Kind = Literal["document", "image"]

PDF = "application/pdf"
ZIP = b"PK\x03\x04"
# The container of encrypted Office documents, and of the formats before 2007.
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_OFFICE = "application/vnd.openxmlformats-officedocument."
DOCX, XLSX, PPTX = (
    f"{_OFFICE}{name}" for name in ("wordprocessingml.document", "spreadsheetml.sheet", "presentationml.presentation")
)
# Types by the name of a part, and by a file's extension, because an encrypted file hides its parts.
_OFFICE_PARTS = {b"word/document": DOCX, b"ppt/presentation": PPTX, b"xl/workbook.xml": XLSX}
_OFFICE_EXTENSIONS = {".docx": DOCX, ".xlsx": XLSX, ".pptx": PPTX}
_END_OF_CENTRAL_DIRECTORY = struct.Struct("<4s8xII")
# These types are read by a worker.
BINARY_DOCUMENTS = frozenset({PDF, DOCX, XLSX, PPTX})
# Longer JSON is labelled plain text: parsing it would only gain the label.
MAX_JSON_BYTES = 2_000_000
_SPACE_OR_BOM = b" \t\r\n\xef\xbb\xbf"
# Only their extensions tell these kinds of text apart; they are processed alike.
_TYPES_BY_EXTENSION = {".csv": "text/csv", ".tsv": "text/tab-separated-values", ".md": "text/markdown"}


class FileType(NamedTuple):
    media_type: str
    kind: Kind


def detect_type(content: bytes, name: str) -> FileType | None:
    """Return None for an unsupported type. `name` only tells kinds of text apart."""
    if content.lstrip(_SPACE_OR_BOM).startswith(b"%PDF-"):
        return FileType(PDF, "document")
    if (picture_type := _detect_picture_type(content)) is not None:
        return FileType(picture_type, "image")
    if (office_type := _detect_office_type(content, name)) is not None:
        return FileType(office_type, "document")
    text = decode_text(content)
    return None if text is None else FileType(_detect_text_type(text, name), "document")


def _detect_picture_type(content: bytes) -> str | None:
    if content.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if content.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if content.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if content.startswith(b"RIFF") and content[8:12] == b"WEBP":
        return "image/webp"
    return None


def _detect_office_type(content: bytes, name: str) -> str | None:
    # Looks for the main part's name in the list of parts; the archive is opened in a child process only.
    if content.startswith(OLE):
        return _OFFICE_EXTENSIONS.get(_extension(name), DOCX) if _ENCRYPTED in content else None
    if not content.startswith(ZIP):
        return None
    end = content.rfind(b"PK\x05\x06")
    if end < 0 or len(content) - end < _END_OF_CENTRAL_DIRECTORY.size:
        return None
    _signature, size, start = _END_OF_CENTRAL_DIRECTORY.unpack_from(content, end)
    listed = content[start : start + size]
    return next((media_type for part, media_type in _OFFICE_PARTS.items() if part in listed), None)


def decode_text(content: bytes) -> str | None:
    """Decode a text in its likeliest encoding, without control characters; return None if it is no text."""
    decoded = decode(content)
    return with_line_feeds(decoded.text) if decoded and decoded.text else None


def _extension(name: str) -> str:
    return "." + name.lower().rpartition(".")[2]


def _detect_text_type(text: str, name: str) -> str:
    if text.lstrip()[:1] in ("{", "[") and len(text) <= MAX_JSON_BYTES and _is_json(text):
        return "application/json"
    return _TYPES_BY_EXTENSION.get(_extension(name), "text/plain")


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True
