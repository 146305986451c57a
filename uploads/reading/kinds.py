"""Detect documents, pictures and unsupported files by their first bytes, or by the parts of an archive. No Django."""

import re
import struct
from enum import StrEnum
from importlib.util import find_spec
from typing import NamedTuple

PDF = "application/pdf"
ZIP = b"PK\x03\x04"
# The container of encrypted Office documents, and of the formats before 2007.
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
_OFFICE = "application/vnd.openxmlformats-officedocument."
DOCX, XLSX, PPTX = (
    f"{_OFFICE}{name}" for name in ("wordprocessingml.document", "spreadsheetml.sheet", "presentationml.presentation")
)
XLS = "application/vnd.ms-excel"
_OPEN_DOCUMENT = "application/vnd.oasis.opendocument."
ODT, ODS, ODP, ODG = (f"{_OPEN_DOCUMENT}{name}" for name in ("text", "spreadsheet", "presentation", "graphics"))
EPUB = "application/epub+zip"
RTF = "application/rtf"
HTML = "text/html"
MAIL = "message/rfc822"
MAILBOX = "application/mbox"
NOTEBOOK = "application/x-ipynb+json"
OFFICE = frozenset({DOCX, XLSX, PPTX, XLS})
OPEN_DOCUMENTS = frozenset({ODT, ODS, ODP, ODG})
BINARY_DOCUMENTS = frozenset({PDF, EPUB, *OFFICE, *OPEN_DOCUMENTS})
# Texts with marks that models need not see.
MARKED_UP_TEXTS = frozenset({RTF, HTML, MAIL, MAILBOX, NOTEBOOK})
READ_BY_WORKER = BINARY_DOCUMENTS | MARKED_UP_TEXTS

# Types by the name of a part, and by a file's extension, because an encrypted file hides its parts.
_PARTS = {
    b"word/document": DOCX, b"ppt/presentation": PPTX, b"xl/workbook.": XLSX, b"META-INF/container.xml": EPUB,
}  # fmt: skip
_OPEN_DOCUMENTS_BY_EXTENSION = {".ods": ODS, ".odp": ODP, ".odg": ODG}
_OFFICE_EXTENSIONS = {".docx": DOCX, ".xlsx": XLSX, ".pptx": PPTX}
_END_OF_CENTRAL_DIRECTORY = struct.Struct("<4s8xII")
# The first part of an OpenDocument is its type, or the type of a template.
_MIMETYPE = re.compile(rb"mimetype" + _OPEN_DOCUMENT.encode() + rb"(text|spreadsheet|presentation|graphics)")
_FLAT = re.compile(
    rf'<office:document\b[^>]*?\boffice:mimetype="{_OPEN_DOCUMENT}(text|spreadsheet|presentation|graphics)', re.DOTALL
)
_SPACE_OR_BOM = " \t\r\n\xef\xbb\xbf\ufeff"
_HEAD_BYTES = 16_384

# Atomic groups: many comments would else be tried in all combinations.
_PAGE = re.compile(
    r"(?>(?:<\?xml[^>]*\?>|<!--.*?-->|\s)*)<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL
)
_FRAGMENT = re.compile(r"(?>(?:<!--.*?-->|\s)*)<(?:[a-z][a-z0-9]*)\b", re.IGNORECASE | re.DOTALL)
_PAGE_EXTENSIONS = (".html", ".htm", ".xhtml")
# A page with such a name is brought as source.
_SOURCE_EXTENSIONS = re.compile(
    r"\.(?:txt|md|markdown|rst|php|jsp|aspx?|erb|ejs|hbs|j2|jinja2?|tmpl|tpl|twig|liquid|vue|svelte|mustache|py|js|ts|log|"
    r"diff|patch)"
)
_FIELD = re.compile(r"([!-9;-~]+):")
_SENDING_FIELDS = frozenset({"from", "received", "return-path", "mime-version", "message-id", "delivered-to"})
_OTHER_FIELDS = frozenset({"to", "cc", "bcc", "subject", "date", "content-type", "sender", "reply-to"})
_EMLX_LENGTH = re.compile(r"\A\d{1,9} *\n")
_MAILBOX_START = re.compile(r"From \S+ .*\d:\d\d.*\d{4}")
MAX_MAILBOX_START = 300

# Pillow's names of formats by their first bytes.
_PICTURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"), (b"II*\0", "image/tiff"), (b"MM\0*", "image/tiff"), (b"II+\0", "image/tiff"),
    (b"MM\0+", "image/tiff"), (b"\0\0\0\x0cjP  \r\n\x87\n", "image/jp2"),
)  # fmt: skip
_BMP_HEADER_BYTES = (12, 40, 52, 56, 64, 108, 124)
# Wheels of pi-heif are LGPL, therefore it is an extra (docs/adr/0076).
READS_HEIC = find_spec("pi_heif") is not None
_HEIC_BRANDS = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1")
_RAW_EXTENSIONS = re.compile(r"\.(?:nef|nrw|arw|sr2|srf|dng|pef|cr2|erf|3fr|iiq|mef|mos|kdc|dcr)")


class Unsupported(StrEnum):
    """Kinds of files that are refused by name; uploads.errors has their sentences."""

    AUDIO = "audio"
    VIDEO = "video"
    ARCHIVE = "archive"
    PROGRAM = "program"
    DATABASE = "database"
    HEIC = "heic"
    PICTURE = "picture"
    OLD_DOCUMENT = "old_document"
    OTHER_DOCUMENT = "other_document"
    PROTECTED_BOOK = "protected_book"


class UnsupportedKind(NamedTuple):
    """format: what the file is called, for sentences that name it. save_as: the format to save it in."""

    kind: Unsupported
    format: str = ""
    save_as: str = ""


_OLD_WORD = UnsupportedKind(Unsupported.OLD_DOCUMENT, "Word 97–2003 (DOC)", "DOCX")
_OLD_SLIDES = UnsupportedKind(Unsupported.OLD_DOCUMENT, "PowerPoint 97–2003 (PPT)", "PPTX")
_OUTLOOK = UnsupportedKind(Unsupported.OLD_DOCUMENT, "Outlook (MSG)", "EML")
_STREAMS = {
    "WordDocument": _OLD_WORD,
    "PowerPoint Document": _OLD_SLIDES,
    "__substg1.0_": _OUTLOOK,
    "HwpSummaryInformation": UnsupportedKind(Unsupported.OTHER_DOCUMENT, "Hangul (HWP)", "PDF"),
    "VisioDocument": UnsupportedKind(Unsupported.OTHER_DOCUMENT, "Visio", "PDF"),
}
_AUDIO, _VIDEO = UnsupportedKind(Unsupported.AUDIO), UnsupportedKind(Unsupported.VIDEO)
_PROGRAM, _DATABASE = UnsupportedKind(Unsupported.PROGRAM), UnsupportedKind(Unsupported.DATABASE)


def _archive(format: str) -> UnsupportedKind:
    return UnsupportedKind(Unsupported.ARCHIVE, format)


def _document(format: str, save_as: str = "PDF") -> UnsupportedKind:
    return UnsupportedKind(Unsupported.OTHER_DOCUMENT, format, save_as)


def _picture(format: str) -> UnsupportedKind:
    return UnsupportedKind(Unsupported.PICTURE, format)


_IWORK = _document("Pages, Numbers / Keynote")
_UNSUPPORTED_PARTS = {
    b"Index/Document.iwa": _IWORK, b"Index.zip": _IWORK, b"index.apxl": _IWORK, b"visio/document": _document("Visio"),
    b"FixedDocSeq": _document("XPS"), b"AndroidManifest.xml": _PROGRAM, b"META-INF/MANIFEST.MF": _PROGRAM,
}  # fmt: skip
# No text has these first bytes.
_STARTS = (
    (b"fLaC", _AUDIO), (b"\xff\xfb", _AUDIO), (b"\xff\xf3", _AUDIO), (b"\xff\xf1", _AUDIO),
    (b"OggS", _AUDIO), (b"#!AMR", _AUDIO), (b"\x1aE\xdf\xa3", _VIDEO), (b"FLV\x01", _VIDEO),
    (b"0&\xb2u\x8ef\xcf\x11", _VIDEO), (b"\0\0\x01\xba", _VIDEO), (b"7z\xbc\xaf\x27\x1c", _archive("7z")),
    (b"Rar!\x1a\x07", _archive("RAR")), (b"\x1f\x8b", _archive("gzip")), (b"\xfd7zXZ\0", _archive("xz")),
    (b"(\xb5/\xfd", _archive("Zstandard")), (b"\x7fELF", _PROGRAM), (b"\xca\xfe\xba\xbe", _PROGRAM),
    (b"\xcf\xfa\xed\xfe", _PROGRAM), (b"\xce\xfa\xed\xfe", _PROGRAM), (b"\0asm", _PROGRAM),
    (b"SQLite format 3\0", _DATABASE), (b"!BDN", _document("Outlook (PST)", "EML")),
    (b"AT&TFORM", _document("DjVu")), (b"\xff\x0a", _picture("JPEG XL")),
    (b"\0\0\0\x0cJXL \r\n\x87\n", _picture("JPEG XL")), (b"FUJIFILMCCD-RAW", _picture("RAW")),
    (b"IIRO", _picture("RAW")), (b"IIU\0", _picture("RAW")), (b"8BPS\0", _picture("Photoshop (PSD)")),
)  # fmt: skip
# Texts may start with these, too, but have no zero byte.
_STARTS_WITH_ZERO_BYTES = (
    (b"MZ", _PROGRAM), (b"BZh", _archive("bzip2")), (b"ID3", _AUDIO), (b"MThd", _AUDIO), (b"FORM", _AUDIO),
    (b"PAR1", _DATABASE),
)  # fmt: skip


def extension(name: str) -> str:
    return "." + name.lower().rpartition(".")[2]


def detect_picture_type(content: bytes, name: str) -> str | None:
    if _is_raw(content, name):
        return None
    for start, media_type in _PICTURES:
        if content.startswith(start):
            return media_type
    if content.startswith(b"RIFF") and content[8:12] == b"WEBP":
        return "image/webp"
    if content.startswith(b"BM") and content[6:10] == bytes(4) and _little_endian(content[14:18]) in _BMP_HEADER_BYTES:
        return "image/bmp"
    if content.startswith(b"\0\0\x01\0") and 0 < _little_endian(content[4:6]) < 256 and content[9:10] == b"\0":
        return "image/x-icon"
    brands = _brands(content)
    if any(brand in (b"avif", b"avis") for brand in brands):
        return "image/avif"
    return "image/heic" if READS_HEIC and _is_heic(brands) else None


def _little_endian(content: bytes) -> int:
    return int.from_bytes(content, "little")


def _brands(content: bytes) -> list[bytes]:
    """Return the brands of a file of ISO's base media format: the main one, then others that it conforms to."""
    if content[4:8] != b"ftyp":
        return []
    end = min(int.from_bytes(content[:4]), 256)
    return [content[8:12], *(content[at : at + 4] for at in range(16, end, 4))]


def _is_heic(brands: list[bytes]) -> bool:
    return bool(brands) and brands[0] in _HEIC_BRANDS


def detect_document_type(content: bytes, name: str) -> str | None:
    """Return the type of a document that a worker reads; `name` breaks ties. PDFs are detected elsewhere."""
    if content.startswith(OLE):
        return _detect_ole_type(content, name)
    if content.startswith(ZIP):
        return _detect_archive_type(content, name)
    return _detect_marked_up_type(content, name)


def _detect_ole_type(content: bytes, name: str) -> str | None:
    if ENCRYPTED_PACKAGE in content:
        return _OFFICE_EXTENSIONS.get(extension(name), DOCX)
    names = ("Workbook", "Book")
    is_workbook = any(f"{stream}\0".encode("utf-16-le") in content for stream in names)
    return XLS if is_workbook and name_ole_kind(content) is None else None


def name_ole_kind(content: bytes) -> UnsupportedKind | None:
    return next((kind for stream, kind in _STREAMS.items() if stream.encode("utf-16-le") in content), None)


def _listed_parts(content: bytes) -> bytes:
    """Return the directory of an archive, which is opened in a child process only; b"" if it has none."""
    end = content.rfind(b"PK\x05\x06")
    if end < 0 or len(content) - end < _END_OF_CENTRAL_DIRECTORY.size:
        return b""
    _signature, size, start = _END_OF_CENTRAL_DIRECTORY.unpack_from(content, end)
    return content[start : start + size]


def _detect_archive_type(content: bytes, name: str) -> str | None:
    listed = _listed_parts(content)
    if (named := _MIMETYPE.search(content, 30, 200)) is not None and listed:
        return _OPEN_DOCUMENT + named[1].decode()
    if b"content.xml" in listed and b"META-INF/manifest.xml" in listed:
        return _OPEN_DOCUMENTS_BY_EXTENSION.get(extension(name), ODT)  # packed anew, in another order
    media_type = next((media_type for part, media_type in _PARTS.items() if part in listed), None)
    return None if media_type == EPUB and _has_protection(listed) else media_type


def _has_protection(listed: bytes) -> bool:
    """Return whether a book has the keys of a protection against copying."""
    return any(part in listed for part in (b"META-INF/rights.xml", b"META-INF/sinf.xml", b"META-INF/license.lcpl"))


def head_text(content: bytes) -> str:
    """Return the start of a text, for comparisons with ASCII."""
    encoding = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}.get(content[:2], "latin-1")
    return content[:_HEAD_BYTES].decode(encoding, "replace").lstrip(_SPACE_OR_BOM)


def _detect_marked_up_type(content: bytes, name: str) -> str | None:
    head = head_text(content)
    if head.startswith("{\\rtf"):
        return RTF
    if head.startswith("{"):
        return NOTEBOOK if b'"nbformat"' in content and b'"cells"' in content else None
    if head.startswith("<"):
        return _detect_xml_type(head, name)
    first_line, _, after = head.partition("\n")
    if _MAILBOX_START.match(first_line[:MAX_MAILBOX_START]):
        return MAILBOX if is_mail_header(after) else None
    return MAIL if is_mail_header(_EMLX_LENGTH.sub("", head, count=1)) else None


def _detect_xml_type(head: str, name: str) -> str | None:
    if (flat := _FLAT.search(head)) is not None:
        return _OPEN_DOCUMENT + flat[1]
    if _SOURCE_EXTENSIONS.fullmatch(extension(name)):
        return None
    is_page = _PAGE.match(head) or (extension(name) in _PAGE_EXTENSIONS and _FRAGMENT.match(head))
    return HTML if is_page else None


def is_mail_header(head: str) -> bool:
    """Return whether a text starts with fields of a mail, of which two or more are known, up to an empty line."""
    fields: set[str] = set()
    for line in head.splitlines():
        if not line.strip():
            break
        if (field := _FIELD.match(line)) is not None:
            fields.add(field[1].lower())
        elif not (fields and line[0] in " \t"):
            return False
    return len(fields & (_SENDING_FIELDS | _OTHER_FIELDS)) >= 2 and bool(fields & _SENDING_FIELDS)


def name_unsupported(content: bytes, name: str) -> UnsupportedKind | None:
    """Return the kind of a file that is known but cannot be read; None for others. Called for no supported file."""
    if content.startswith(OLE):
        return name_ole_kind(content)
    if content.startswith(ZIP):
        return _name_archive(content)
    if brands := _brands(content):
        return _name_media(brands)
    if _is_raw(content, name):
        return _picture("RAW")
    starts = _STARTS + _STARTS_WITH_ZERO_BYTES if b"\0" in content[:1024] else _STARTS
    if (known := next((kind for start, kind in starts if content.startswith(start)), None)) is not None:
        return known
    if content.startswith(b"RIFF") and content[8:12] in (b"WAVE", b"AVI "):
        return _AUDIO if content[8:12] == b"WAVE" else _VIDEO
    if content[60:68] == b"BOOKMOBI":
        return _document("Kindle", "EPUB")
    if content[257:262] == b"ustar":
        return _archive("TAR")
    return None


def _name_archive(content: bytes) -> UnsupportedKind:
    listed = _listed_parts(content)
    if b"META-INF/container.xml" in listed and _has_protection(listed):
        return UnsupportedKind(Unsupported.PROTECTED_BOOK)
    named = (kind for part, kind in _UNSUPPORTED_PARTS.items() if part in listed)
    return next(named, _archive("ZIP"))


def _name_media(brands: list[bytes]) -> UnsupportedKind:
    if _is_heic(brands):
        return UnsupportedKind(Unsupported.HEIC)
    if brands[0] == b"crx ":
        return _picture("RAW")
    return _AUDIO if brands[0] in (b"M4A ", b"M4B ") else _VIDEO


def _is_raw(content: bytes, name: str) -> bool:
    """Return whether a TIFF holds raw data of a camera: its first picture is only a small preview."""
    is_tiff = content.startswith((b"II*\0", b"MM\0*"))
    return is_tiff and (content[8:10] == b"CR" or _RAW_EXTENSIONS.fullmatch(extension(name)) is not None)
