"""Texts of mails and mailboxes. No Django: only the guarded child process uses it (uploads.reading.child)."""

import email
import re
from email.header import decode_header
from email.message import Message

from common.text.storable import storable
from uploads.reading import markup
from uploads.reading.findings import MAX_CHARACTERS, Note, NoteKind, Reason, Text, Unreadable

READER = "email"
MAX_DEPTH = 20
MAX_NAMED = 5
MAX_NAME = 60
# Longer fields stay as they are: decoding one takes long.
MAX_DECODED_FIELD = 50_000
_FIELDS = ("From", "To", "Cc", "Bcc", "Date", "Subject")
# Apple Mail writes the length of the mail above it, and a list of properties below.
_EMLX_LENGTH = re.compile(rb"(\d{1,9}) *\r?\n")
# The line that starts a mail in a mailbox; mails quote such lines with “>”.
_START = re.compile(rb"^From \S+ [^\r\n]*\d:\d\d[^\r\n]*\d{4}[^\r\n]*\r?\n", re.MULTILINE)
# Lines of content in base64.
_ENCODED = re.compile(r"^[A-Za-z0-9+/]{40,}={0,2}\s*$\n?", re.MULTILINE)
_QUOTED_START = re.compile(r"^>(>*From )", re.MULTILINE)


class _Reading:
    """Lines of mails, and what was left out of them."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.attachments: list[str] = []
        self.unreadable: list[str] = []
        self.picture_parts = 0
        self.pictures_in_pages = 0
        self.characters = 0

    def add(self, text: str) -> None:
        self.characters += len(text)
        if self.characters > MAX_CHARACTERS:
            raise Unreadable(Reason.TOO_LONG)
        self.lines.append(text)

    def notes(self) -> list[Note]:
        shown = [name if len(name) <= MAX_NAME else f"{name[:MAX_NAME]}…" for name in self.attachments[:MAX_NAMED]]
        names = ", ".join(shown) + (", …" if len(self.attachments) > MAX_NAMED else "")
        return [
            *([Note(NoteKind.PARTS_UNREADABLE, len(self.unreadable), self.unreadable[0])] if self.unreadable else []),
            *([Note(NoteKind.ATTACHMENTS_LEFT_OUT, len(self.attachments), names)] if self.attachments else []),
            *markup.pictures_note(max(self.picture_parts, self.pictures_in_pages)),
        ]


def extract_mail(content: bytes) -> Text:
    """Return the fields that people read, then the text. Attachments are named. Raises Unreadable."""
    reading = _Reading()
    content = content.lstrip(b"\xef\xbb\xbf\r\n")
    if (length := _EMLX_LENGTH.match(content)) is not None:
        content = content[length.end() : length.end() + int(length[1])]
    _read_mail(email.message_from_bytes(content), reading, 0)
    return _text(reading)


def extract_mailbox(content: bytes) -> Text:
    """Return the mails of a mailbox one after another. Raises Unreadable."""
    reading = _Reading()
    starts = [match.span() for match in _START.finditer(content)]
    for (_begin, begin), end in zip(starts, [*(start for start, _end in starts[1:]), len(content)], strict=True):
        if reading.lines:
            reading.add("\n---\n")
        _read_mail(email.message_from_bytes(content[begin:end]), reading, 0)
    return _text(reading)


def _text(reading: _Reading) -> Text:
    text = storable("\n".join(reading.lines)).strip("\n")
    if not text.strip():
        raise Unreadable(Reason.NO_TEXT)
    return Text([text], READER, reading.notes())


def _read_mail(mail: Message, reading: _Reading, depth: int) -> None:
    """Read a mail, also one in another."""
    for field in _FIELDS:
        for value in mail.get_all(field, []):
            reading.add(f"{field}: {_decode_field(value)}")
    reading.add("")
    before = len(reading.attachments)
    _read_part(mail, reading, depth)
    if names := reading.attachments[before:]:
        reading.add(f"\n[Attachments: {', '.join(names)}]")


def _read_part(part: Message, reading: _Reading, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise Unreadable(Reason.TOO_DEMANDING)
    payload = part.get_payload()
    children = [child for child in payload if isinstance(child, Message)] if isinstance(payload, list) else None
    kind = part.get_content_type()
    if kind == "multipart/alternative" and children is not None:
        chosen = _preferred(children)
        others = (inner for child in children if child not in chosen for inner in child.walk())
        reading.picture_parts += sum(1 for other in others if other.get_content_maintype() == "image")
        children = chosen
    if children is not None and kind == "message/rfc822":
        for child in children:
            reading.add("")
            _read_mail(child, reading, depth + 1)
    elif children is not None:
        for child in children:
            _read_part(child, reading, depth + 1)
    else:
        _read_leaf(part, kind, reading)


def _preferred(parts: list[Message]) -> list[Message]:
    """Return the plain text of an alternative, or else its last part, the richest."""
    plain = [part for part in parts if part.get_content_type() == "text/plain" and _content(part).strip()]
    return plain[:1] or [part for part in parts if part.get_content_type() != "text/plain"][-1:]


def _read_leaf(part: Message, kind: str, reading: _Reading) -> None:
    name = _file_name(part)
    if kind.startswith("multipart/"):  # its boundary is missing, so it has no parts
        reading.unreadable.append(kind)
        reading.add(_ENCODED.sub("", str(part.get_payload())).strip())
        return
    is_text = kind.startswith(("text/", "message/"))
    if not is_text or part.get_content_disposition() == "attachment":
        if kind.startswith("image/") and part.get_content_disposition() != "attachment":
            reading.picture_parts += 1
        else:
            reading.attachments.append(name or kind)
    elif kind == "text/html":
        page = markup.read_page(markup.decode(_content(part), part.get_content_charset() or ""))
        reading.pictures_in_pages += page.pictures
        reading.add(page.text)
    else:
        text = markup.decode(_content(part), part.get_content_charset() or "").replace("\r\n", "\n")
        reading.add(_QUOTED_START.sub(r"\1", text).strip("\n"))


def _content(part: Message) -> bytes:
    content = part.get_payload(decode=True)
    return content if isinstance(content, bytes) else b""


def _file_name(part: Message) -> str:
    name = part.get_filename() or ""
    return " ".join(_decode_field(name).split())


def _decode_field(value: object) -> str:
    """Return a field in one line with its encoded words decoded, also from unknown charsets."""
    raw = str(value).encode(errors="surrogateescape") if isinstance(value, str) else str(value).encode(errors="replace")
    line = " ".join(markup.decode(raw).split())
    if len(line) > MAX_DECODED_FIELD:
        return line
    try:
        words = decode_header(line)
    except (email.errors.HeaderParseError, ValueError):
        return line
    return "".join(
        word if isinstance(word, str) else markup.decode(word, charset or "")
        for word, charset in words
    )  # fmt: skip
