"""Encodings of texts: Unicode by its form, others by what a text costs in their languages."""

import codecs
import re
import unicodedata
from collections.abc import Mapping
from itertools import islice
from typing import NamedTuple

from common.text.letter_costs import BALTIC, CENTRAL, CYRILLIC, SEMITIC, WESTERN, context_of, cost_of


class _Encoding(NamedTuple):
    """prior: bits that it costs to be rare."""

    codec: str
    languages: str
    prior: float


_GUESSED: Mapping[str, _Encoding] = {
    "Windows-1252": _Encoding("cp1252", WESTERN, 0),
    "Windows-1250": _Encoding("cp1250", CENTRAL, 1),
    "Windows-1251": _Encoding("cp1251", CYRILLIC, 1),
    "Windows-1253": _Encoding("cp1253", "el", 2),
    "Windows-1254": _Encoding("cp1254", "tr", 2),
    "Windows-1255": _Encoding("cp1255", "he", 2),
    "Windows-1256": _Encoding("cp1256", SEMITIC, 2),
    "Windows-1257": _Encoding("cp1257", BALTIC, 3),
    "Windows-874": _Encoding("cp874", "th", 3),
    "Shift-JIS": _Encoding("cp932", "ja", 1),
    "GB18030": _Encoding("gb18030", "zh_Hans", 1),
    "Big5": _Encoding("cp950", "zh_Hant", 2),
    "EUC-KR": _Encoding("cp949", "ko", 2),
    "EUC-JP": _Encoding("euc_jp", "ja", 3),
    "ISO-8859-2": _Encoding("iso8859_2", CENTRAL, 4),
    "ISO-8859-5": _Encoding("iso8859_5", CYRILLIC, 6),
    "ISO-8859-6": _Encoding("iso8859_6", "ar", 5),
    "ISO-8859-7": _Encoding("iso8859_7", "el", 4),
    "ISO-8859-15": _Encoding("iso8859_15", WESTERN, 5),
    "KOI8-R": _Encoding("koi8_r", "ru", 3),
    "KOI8-U": _Encoding("koi8_u", "uk", 4),
    "Mac Roman": _Encoding("mac_roman", WESTERN, 3),
    "Mac Central European": _Encoding("mac_latin2", CENTRAL, 7),
    "Mac Cyrillic": _Encoding("mac_cyrillic", CYRILLIC, 7),
    "Mac Greek": _Encoding("mac_greek", "el", 7),
    "Mac Turkish": _Encoding("mac_turkish", "tr", 7),
    "IBM437": _Encoding("cp437", WESTERN, 5),
    "IBM737": _Encoding("cp737", "el", 6),
    "IBM850": _Encoding("cp850", WESTERN, 4),
    "IBM852": _Encoding("cp852", CENTRAL, 5),
    "IBM857": _Encoding("cp857", "tr", 6),
    "IBM862": _Encoding("cp862", "he", 7),
    "IBM866": _Encoding("cp866", CYRILLIC, 4),
}
UTF_8 = "UTF-8"
_UNICODE = {
    UTF_8: "utf-8-sig", "UTF-16LE": "utf-16-le", "UTF-16BE": "utf-16-be", "UTF-32LE": "utf-32-le",
    "UTF-32BE": "utf-32-be",
}  # fmt: skip
_STATEFUL = {"ISO-2022-JP": "iso2022_jp_2", "ISO-2022-KR": "iso2022_kr"}
CODECS = _UNICODE | _STATEFUL | {name: encoding.codec for name, encoding in _GUESSED.items()}
_SAMPLE_BYTES = 4_000
_COUNTED_BYTES = 100_000
_MAX_MIXED_LINES = 100_000
_MAX_BITS_OF_TEXT = 10.0
# Bits below which lines that could be UTF-8 are so by chance.
_BITS_OF_ONE_ENCODING = 7.5
_FEW_CONTROLS = 3
_MIN_PADDING, _MIN_PADDED = 8, 30
_MARKS = {
    codecs.BOM_UTF32_LE: "UTF-32LE", codecs.BOM_UTF32_BE: "UTF-32BE", codecs.BOM_UTF8: UTF_8,
    codecs.BOM_UTF16_LE: "UTF-16LE", codecs.BOM_UTF16_BE: "UTF-16BE",
}  # fmt: skip
# Texts contain no control characters but tab, line feed, form feed, carriage return and escape (in terminal logs).
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
# Bold and underlined letters of manual pages.
_OVERSTRUCK = re.compile("[^\n]\x08")
_DECLARATION = re.compile(rb"(?:encoding|charset|coding)[ \t]*[=:][ \t]*[\"']?([A-Za-z0-9_.:-]+)")
_SUPERSETS = {"iso8859_1": "cp1252", "iso8859_9": "cp1254", "iso8859_8": "cp1255", "iso8859_13": "cp1257",
              "gbk": "gb18030", "gb2312": "gb18030", "shift_jis": "cp932", "big5": "cp950", "euc_kr": "cp949",
              "tis_620": "cp874"}  # fmt: skip
_UNREADABLE = re.compile("[\ufffd\x80-\x9f]")
_COMPARED_LINES, _MAX_ALTERNATIVES = 100, 6
_FOREIGN_LINE = re.compile(rb"[^\r\n]{0,80}[\x80-\xff][^\r\n]{0,80}")
_TOKEN = re.compile(rb"[\x30-\x7f]*[\x80-\xff][\x30-\xff]*")


class Decoded(NamedTuple):
    """dropped: control characters left out. broken: sequences of bytes that became U+FFFD.

    other_lines: lines of a text in UTF-8 that were read in `other`.
    """

    text: str
    encoding: str
    is_assumed: bool = False
    dropped: int = 0
    broken: int = 0
    other_lines: int = 0
    other: str = ""


def decode(content: bytes, encoding: str = "") -> Decoded | None:
    """Decode in one of CODECS, by default the likeliest; None if it is no text."""
    if encoding:
        text = content.decode(CODECS[encoding], "replace")
        return _cleaned(text.removeprefix("\ufeff"), encoding, broken=_count_broken(text, content))
    for mark, name in _MARKS.items():
        if content.startswith(mark):
            text = content[len(mark) :].decode(CODECS[name], "replace")
            broken = _count_broken(text, content)
            return _cleaned(text, name, broken=broken) if broken <= max(1, len(text) // 100) else None
    if content.endswith(bytes(_MIN_PADDING)):
        return _unpadded(content)
    return _unmarked_unicode(content) or _assumed(content)


def _unpadded(content: bytes) -> Decoded | None:
    """Decode a text before NULs, as a crash leaves a log."""
    text = content.rstrip(b"\0")
    decoded = None if len(text) < _MIN_PADDED or b"\0" in text else decode(text)
    return decoded and decoded._replace(dropped=decoded.dropped + len(content) - len(text))


def _cleaned(text: str, encoding: str, *, is_assumed: bool = False, broken: int = 0) -> Decoded | None:
    text = _OVERSTRUCK.sub("", text.replace("\x0b", "\n").removesuffix("\x1a"))
    cleaned, dropped = _CONTROLS.subn("", text)
    if dropped > max(_FEW_CONTROLS, len(text) // 200) or dropped * 10 > len(text):
        return None
    return Decoded(cleaned, encoding, is_assumed, dropped, broken)


def _count_broken(text: str, content: bytes) -> int:
    return max(0, text.count("\ufffd") - content.count("\ufffd".encode()))


def _unmarked_unicode(content: bytes) -> Decoded | None:
    if content.isascii():
        for name, sign in (("ISO-2022-JP", b"\x1b$"), ("ISO-2022-KR", b"\x1b$)C")):
            if sign in content and (text := _strictly(content, name)):
                return _cleaned(text, name)
    if (decoded := _utf_8(content)) is not None:
        return decoded
    return _wide_unicode(content) if b"\0" in content else None


def _utf_8(content: bytes) -> Decoded | None:
    """Decode UTF-8, also of a file that was cut, or joined from several: few characters among many are broken."""
    try:
        return _cleaned(content.decode(), UTF_8)
    except UnicodeDecodeError:
        start = content[:_COUNTED_BYTES].decode("utf-8", "replace")
    if _count_broken(start, content) * 10 > sum(not character.isascii() for character in start):
        return _mixed(content)
    text = content.decode("utf-8", "replace")
    return _cleaned(text, UTF_8, broken=_count_broken(text, content))


def _mixed(content: bytes) -> Decoded | None:
    """Decode a text of lines in UTF-8 and in another encoding, as logs of several programs are."""
    lines = content.split(b"\n")
    if len(lines) > _MAX_MIXED_LINES:
        return None
    texts = [None if line.isascii() else _strictly(line, UTF_8) for line in lines]
    others = [line for line, text in zip(lines, texts, strict=True) if text == ""]
    if not any(texts) or sum(map(bool, texts)) * 3 < len(others) or _rank(content)[0][1] < _BITS_OF_ONE_ENCODING:
        return None
    for name, _bits in _rank(b"\n".join(others)):
        read = [_strictly(line, name) for line in others]
        if all(read):
            following = iter(read)
            joined = "\n".join(
                line.decode() if text is None else text or next(following)
                for line, text in zip(lines, texts, strict=True)
            )
            decoded = _cleaned(joined, UTF_8)
            return decoded and decoded._replace(other_lines=len(others), other=name)
    return None


def _wide_unicode(content: bytes) -> Decoded | None:
    """Decode UTF-16 and UTF-32 without a mark: ASCII and spaces have zeros in one half."""
    for name, width, at in (("UTF-32LE", 4, 0), ("UTF-32BE", 4, 3), ("UTF-16LE", 2, 0), ("UTF-16BE", 2, 1)):
        zeros = content[1 - at if width == 2 else 3 - at :: width].count(0)
        if zeros * 20 * width >= len(content) and (text := _strictly(content, name)) and _is_writing(text):
            return _cleaned(text, name)
    return None


def _is_writing(text: str) -> bool:
    odd = sum(unicodedata.category(character) in ("Cn", "Co", "Cs") for character in text[:_COUNTED_BYTES])
    return odd * 50 <= len(text[:_COUNTED_BYTES])


def _strictly(content: bytes, encoding: str) -> str:
    try:
        return content.decode(CODECS[encoding])
    except UnicodeDecodeError:
        return ""


def _assumed(content: bytes) -> Decoded | None:
    ranked = _rank(content)
    if (declared := _declared(content)) and any(name == declared for name, _bits in ranked):
        ranked.insert(0, (declared, 0.0))
    for name, bits in ranked:
        if text := _strictly(content, name):
            decoded = _cleaned(text, name, is_assumed=True)
            return decoded if decoded is not None and (not decoded.dropped or bits <= _MAX_BITS_OF_TEXT) else None
    return None


def _declared(content: bytes) -> str:
    """Return the encoding that XML, HTML, Python and others name in their first lines."""
    match = _DECLARATION.search(content[:1_024])
    try:
        codec = codecs.lookup(match[1].decode("ascii")).name.replace("-", "_") if match else ""
    except (LookupError, UnicodeDecodeError):
        return ""
    codec = _SUPERSETS.get(codec, codec)
    return next((name for name, encoding in _GUESSED.items() if encoding.codec == codec), "")


class Alternative(NamedTuple):
    """line: the one that differs most between encodings, as this one reads it."""

    encoding: str
    line: str


def alternatives(content: bytes, encoding: str) -> list[Alternative]:
    """Return an encoding of a text and others that are likely, but those that read its line alike."""
    lines = islice(_FOREIGN_LINE.finditer(content), _COMPARED_LINES)
    line = max((match[0] for match in lines), key=lambda line: sum(byte > 127 for byte in line), default=b"")
    read: dict[str, str] = {}
    for name in [encoding, *(name for name, _bits in _rank(content))]:
        text = line.decode(CODECS[name], "replace").strip()
        if name == encoding or not _UNREADABLE.search(text):
            read.setdefault(text, name)
    return [Alternative(name, text) for text, name in read.items()][:_MAX_ALTERNATIVES]


def _rank(content: bytes) -> list[tuple[str, float]]:
    """Return encodings with bits of each byte beyond ASCII, the likeliest first."""
    sample, is_whole = _sample(content)
    context = context_of(content)
    foreign = sum(byte > 127 for byte in sample) or 1
    costs = []
    for name, encoding in _GUESSED.items():
        try:
            text = codecs.getincrementaldecoder(encoding.codec)().decode(sample, final=is_whole)
        except UnicodeDecodeError:
            continue
        costs.append((name, (encoding.prior + cost_of(text, encoding.languages, context)) / foreign))
    return sorted(costs, key=lambda cost: cost[1])


def _sample(content: bytes) -> tuple[bytes, bool]:
    """Return different words with bytes beyond ASCII, and whether the last one is whole.

    They begin and end where every encoding has the edge of a character.
    """
    words: dict[bytes, None] = {}
    size = 0
    for match in islice(_TOKEN.finditer(content), _SAMPLE_BYTES):
        word = match.group()
        if len(word) > _SAMPLE_BYTES:
            return b" ".join([*words, word[:_SAMPLE_BYTES]]), False
        if word not in words:
            words[word] = None
            size += len(word) + 1
        if size > _SAMPLE_BYTES:
            break
    return b" ".join(words) + b" ", True
