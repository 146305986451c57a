"""Detect the type of a file by its content, because names prove nothing. No Django."""

import codecs
import re
from typing import Literal, NamedTuple

import msgspec

from uploads.reading.kinds import OLE, PDF, detect_document_type, detect_picture_type, extension, name_unsupported

Kind = Literal["document", "image"]

# Longer JSON is labelled plain text: parsing it would only gain the label.
MAX_JSON_BYTES = 2_000_000
_SPACE_OR_BOM = b" \t\r\n\xef\xbb\xbf"
# Texts contain no control characters but tab, line feed, form feed, carriage return and escape (in terminal logs).
_BINARY = re.compile("[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_NOT_ASCII = re.compile("[^\x00-\x7f]")
# Letters and punctuation in use, and rows of letters.
_WESTERN = re.compile("[À-ÖØ-öø-ÿŠšŽžŒœŸ\xa0€„…‘’“”•–—™¡£§©ª«®°±²³µ·º»¼½¾¿×÷´]")
_WESTERN_ROW = re.compile("[À-ÖØ-öø-ÿ]{2,}")
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
    """Decode UTF-8, UTF-16 with a byte order mark, or Windows-1252; return None if it is no text."""
    is_utf16 = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = content.decode("utf-16" if is_utf16 else "utf-8-sig")
    except UnicodeDecodeError:
        text = "" if is_utf16 else _decode_windows_1252(content)
    return None if not text or _BINARY.search(text) else text.replace("\r\n", "\n").replace("\r", "\n")


def _decode_windows_1252(content: bytes) -> str:
    """Return "" if the text is likely in another encoding."""
    # Western Europe writes mostly ASCII, and other letters stand alone. In Cyrillic, Greek, Chinese or Japanese
    # encodings such bytes are most letters, or in rows, or rare signs in Windows-1252.
    try:
        text = content.decode("cp1252")
    except UnicodeDecodeError:
        return ""
    others = len(_NOT_ASCII.findall(text))
    is_western = (
        len(_WESTERN.findall(text)) >= 0.9 * others
        and sum(map(len, _WESTERN_ROW.findall(text))) <= 0.5 * others
        and others <= 0.4 * len(text)
    )
    return text if is_western else ""


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
