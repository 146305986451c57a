"""What a file is, by its content: a name proves nothing. Bytes in, a type out; no Django."""

import codecs
import re
from typing import Literal, NamedTuple

import msgspec

Kind = Literal["document", "image"]

PDF = "application/pdf"
# Longer JSON is plain text: nothing but its label would be gained by parsing it.
MOST_JSON_BYTES = 2_000_000
_SPACE_OR_BOM = b" \t\r\n\xef\xbb\xbf"
# Beside tab, line feed, form feed, carriage return and the escape of a terminal's log, texts hold none.
_NOT_OF_TEXT = re.compile("[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
# What text is called is all that tells these from other text; what is done with them is the same.
_BY_ENDING = {".csv": "text/csv", ".tsv": "text/tab-separated-values", ".md": "text/markdown"}


class FileType(NamedTuple):
    media_type: str
    kind: Kind


def type_of(content: bytes, name: str) -> FileType | None:
    """None for what the arena does not take. `name` only tells kinds of text apart."""
    if content.lstrip(_SPACE_OR_BOM).startswith(b"%PDF-"):
        return FileType(PDF, "document")
    if (picture := _picture_type(content)) is not None:
        return FileType(picture, "image")
    text = decoded(content)
    return None if text is None else FileType(_text_type(text, name), "document")


def _picture_type(content: bytes) -> str | None:
    if content.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if content.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if content.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if content.startswith(b"RIFF") and content[8:12] == b"WEBP":
        return "image/webp"
    return None


def decoded(content: bytes) -> str | None:
    """The text in a file of UTF-8, or of UTF-16 that says so at its beginning; None when it is no text."""
    is_utf16 = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = content.decode("utf-16" if is_utf16 else "utf-8-sig")
    except UnicodeDecodeError:
        return None
    return None if _NOT_OF_TEXT.search(text) else text.replace("\r\n", "\n").replace("\r", "\n")


def _text_type(text: str, name: str) -> str:
    if text.lstrip()[:1] in ("{", "[") and len(text) <= MOST_JSON_BYTES and _is_json(text):
        return "application/json"
    ending = "." + name.lower().rpartition(".")[2]
    return _BY_ENDING.get(ending, "text/plain")


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True
