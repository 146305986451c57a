"""Detect the type of a file by its content, because names prove nothing. No Django."""

import codecs
import re
import struct
from typing import Literal, NamedTuple

import msgspec

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
# Readers look for a PDF's header in as many bytes; behind them it must stand at the start of a line.
_PDF_HEADER_WITHIN = 1024
_PDF_HEADER = re.compile(rb"%PDF-\d\.\d")
# Files that may have a PDF among others: ZIP, OLE, gzip, 7z, RAR and pictures; tar archives have their mark later.
_CONTAINERS = (ZIP, OLE, b"\x1f\x8b", b"7z\xbc\xaf", b"Rar!", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF")
_LATE_PDF = re.compile(rb"(?:^|[\r\n\x00])(%PDF-\d\.\d[\r\n].{0,1024}?[\r\n]\d+ \d+ obj\b)", re.DOTALL)
_SPACE_OR_BOM = b" \t\r\n\xef\xbb\xbf"
_PDF_WITHOUT_HEADER = re.compile(rb"\s*(?:%[^\r\n]*[\r\n]\s*)*\d+ \d+ obj\b")
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
    """Return None for an unsupported type. `name` only tells kinds of text apart."""
    if _PDF_HEADER.search(content, 0, _PDF_HEADER_WITHIN) and pdf_start(content) is not None:
        return FileType(PDF, "document")
    if (picture_type := _detect_picture_type(content)) is not None:
        return FileType(picture_type, "image")
    if (office_type := _detect_office_type(content, name)) is not None:
        return FileType(office_type, "document")
    if pdf_start(content) is not None:
        return FileType(PDF, "document")
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
