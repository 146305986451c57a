"""Texts of RTF. No Django: only the guarded child process uses it (uploads.reading.child)."""

import codecs
import re
from collections import Counter
from dataclasses import dataclass, field, replace

from common.text.storable import storable
from uploads.reading.findings import MAX_CHARACTERS, Note, NoteKind, Reason, Text, Unreadable

READER = "rtf-1.9.1"
MAX_DEPTH = 1_000
# A run of text, such as a line of a picture's digits, is one token.
_TOKEN = re.compile(
    rb"\\'([0-9a-fA-F]{2})|\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\([^a-zA-Z])|([{}])|[\r\n]+|([^\\{}\r\n]+)"
)
_SIGNS = {
    b"par": "\n", b"line": "\n", b"sect": "\n", b"page": "\n", b"tab": "\t", b"cell": "\t", b"nestcell": "\t",
    b"row": "\n", b"nestrow": "\n", b"emdash": "—", b"endash": "–", b"emspace": " ", b"enspace": " ", b"qmspace": " ",
    b"bullet": "•", b"lquote": "‘", b"rquote": "’", b"ldblquote": "“", b"rdblquote": "”",
    b"~": "\xa0", b"_": "\u2011", b"{": "{", b"}": "}", b"\\": "\\", b"\n": "\n", b"\r": "\n",
}  # fmt: skip
# Groups without text of the document.
_UNREAD = frozenset(
    b"fonttbl colortbl stylesheet info pict object objdata fldinst listtable listoverridetable revtbl rsidtbl "
    b"generator themedata colorschememapping latentstyles datastore xmlnstbl pgptbl filetbl bkmkstart bkmkend "
    b"template operator fname nonshppict atnid atntime atnref tc xe sp shprslt".split()
)
# Groups that are read although a reader may skip them.
_READ = frozenset((b"annotation", b"shptxt", b"shpinst", b"shp", b"atnauthor", b"footnote", b"nesttableprops"))
_COUNTED = {b"pict": NoteKind.PICTURES_LEFT_OUT, b"object": NoteKind.OBJECTS_LEFT_OUT}
_CHARSETS = {
    0: "cp1252", 77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gb18030", 136: "cp950", 161: "cp1253",
    162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874",
    238: "cp1250", 254: "cp437", 255: "cp850",
}  # fmt: skip


@dataclass
class _State:
    """Properties of a group, which end with it."""

    encoding: str = ""
    unread: bytes = b""
    is_optional: bool = False
    is_deleted: bool = False
    fallback_bytes: int = 1
    # The sign that ends a footnote or a comment.
    bracket: str = ""


@dataclass
class _Reader:
    page_encoding: str = "cp1252"
    state: _State = field(default_factory=_State)
    stack: list[_State] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    # Bytes of the code page: letters of East Asia are two.
    pending: bytearray = field(default_factory=bytearray)
    fonts: dict[int, str] = field(default_factory=dict)
    font: int = 0
    skipped: int = 0
    characters: int = 0
    found: Counter[NoteKind] = field(default_factory=Counter)

    def flush(self) -> None:
        if self.pending:
            encoding = self.state.encoding or self.page_encoding
            self.texts.append(self.pending.decode(encoding, "replace"))
            self.characters += len(self.texts[-1])
            self.pending.clear()
            if self.characters > MAX_CHARACTERS:
                raise Unreadable(Reason.TOO_LONG)

    def write(self, text: str) -> None:
        if not self.state.unread and not self.state.is_deleted:
            self.flush()
            self.texts.append(text)
            self.characters += len(text)

    def write_bytes(self, content: bytes) -> None:
        skipped = min(self.skipped, len(content))
        self.skipped -= skipped
        if not self.state.unread and not self.state.is_deleted:
            self.pending += content[skipped:]

    def open(self) -> None:
        if len(self.stack) >= MAX_DEPTH:
            raise Unreadable(Reason.TOO_DEMANDING)
        self.flush()
        self.stack.append(self.state)
        self.state = replace(self.state, is_optional=False, bracket="")
        self.skipped = 0

    def close(self) -> None:
        self.flush()
        if self.state.bracket:
            self.write(self.state.bracket)
        self.state = self.stack.pop() if self.stack else _State()
        self.skipped = 0

    def control(self, word: bytes, number: int | None) -> None:
        if self.state.is_optional and word not in _READ:
            self.state.unread = self.state.unread or word
        self.state.is_optional = False
        if word in _COUNTED and self.state.unread in (b"", b"shppict", b"object"):
            self.found[_COUNTED[word]] += int(self.state.unread != b"object")
        if word == b"result" and self.state.unread == b"object":
            self.state.unread = b""  # an object's text for other programs
        elif word in _UNREAD and not self.state.unread:
            self.flush()
            self.state.unread = word
        elif word in (b"footnote", b"annotation"):
            self.write(" [")
            self.state.bracket = "]" if not self.state.unread else ""
        elif word in _SIGNS:
            self.write(_SIGNS[word])
        else:
            self._set(word, number)

    def _set(self, word: bytes, number: int | None) -> None:
        match word:
            case b"ansicpg":
                self.page_encoding = _known(f"cp{number}") or ("utf-8" if number == 65001 else "cp1252")
            case b"mac" | b"pc" | b"pca":
                self.page_encoding = {b"mac": "mac_roman", b"pc": "cp437", b"pca": "cp850"}[word]
            case b"f":
                self.font = number or 0
                self.flush()
                self.state.encoding = self.fonts.get(self.font, "")
            case b"fcharset" if number in _CHARSETS and self.state.unread == b"fonttbl":
                # Fonts of the default charset follow the code page of the document.
                self.fonts[self.font] = _CHARSETS[number] if number else ""
            case b"plain":
                self.flush()
                self.state.encoding = ""
            case b"deleted":
                self.flush()
                self.found[NoteKind.DELETIONS_LEFT_OUT] += int(number != 0 and not self.state.is_deleted)
                self.state.is_deleted = number != 0
            case b"uc":
                self.state.fallback_bytes = number or 0
            case b"u" if number is not None:
                self.write(chr(number % 0x10000))
                self.skipped = self.state.fallback_bytes


def _known(encoding: str) -> str:
    try:
        return codecs.lookup(encoding).name
    except LookupError:
        return ""


def extract_text(content: bytes) -> Text:
    """Return the text with footnotes and comments in brackets where they stand. Raises Unreadable."""
    reader = _Reader()
    position = content.index(b"{")
    while (token := _TOKEN.match(content, position)) is not None:
        position = token.end()
        digits, word, number, sign, brace, run = token.groups()
        if word == b"bin":
            position += max(0, int(number or 0))
        elif word:
            reader.control(word, int(number) if number else None)
        elif digits:
            reader.write_bytes(bytes.fromhex(digits.decode()))
        elif run:
            reader.write_bytes(run)
        elif brace:
            reader.open() if brace == b"{" else reader.close()
        elif sign == b"*":
            reader.state.is_optional = True
        elif sign in _SIGNS:
            reader.write(_SIGNS[sign])
    reader.flush()
    # Letters beyond U+FFFF are written as two halves.
    text = "".join(reader.texts).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    text = "\n".join(line.rstrip() for line in storable(text).splitlines()).strip("\n")
    if not text.strip():
        raise Unreadable(Reason.NO_TEXT)
    if len(text) > MAX_CHARACTERS:
        raise Unreadable(Reason.TOO_LONG)
    return Text([text], READER, [Note(kind, reader.found[kind]) for kind in NoteKind if reader.found[kind]])
