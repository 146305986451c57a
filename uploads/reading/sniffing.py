"""Detect the type of a file by its content, because names prove nothing. No Django."""

import codecs
import re
from typing import Literal, NamedTuple

import msgspec

Kind = Literal["document", "image"]

PDF = "application/pdf"
# Longer JSON is labelled plain text: parsing it would only gain the label.
MAX_JSON_BYTES = 2_000_000
_SPACE_OR_BOM = b" \t\r\n\xef\xbb\xbf"
# Texts contain no control characters but tab, line feed, form feed, carriage return and escape (in terminal logs).
_BINARY = re.compile("[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
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


def decode_text(content: bytes) -> str | None:
    """Decode UTF-8, or UTF-16 with a byte order mark; return None if it is no text."""
    is_utf16 = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = content.decode("utf-16" if is_utf16 else "utf-8-sig")
    except UnicodeDecodeError:
        return None
    return None if _BINARY.search(text) else text.replace("\r\n", "\n").replace("\r", "\n")


def _detect_text_type(text: str, name: str) -> str:
    if text.lstrip()[:1] in ("{", "[") and len(text) <= MAX_JSON_BYTES and _is_json(text):
        return "application/json"
    extension = "." + name.lower().rpartition(".")[2]
    return _TYPES_BY_EXTENSION.get(extension, "text/plain")


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True
