"""Encodings of texts: Unicode by its form, others by the letters that languages write beside each other."""

import codecs
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from functools import cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

_PAIRS = Path(__file__).with_name("letter_pairs.txt")  # written by tools.letter_pairs
_WESTERN = "fr de es it pt pt_BR nl da nb sv fi is ca gl"
_CENTRAL = "pl cs sk sl hr hu ro sq de"
_BALTIC = "et lv lt"
_CYRILLIC = "ru uk be bg mk sr"
_SEMITIC = "ar fa"
_LATIN = (_WESTERN, _CENTRAL, _BALTIC, "tr")


class _Encoding(NamedTuple):
    """prior: bits that it costs to be rare."""

    codec: str
    languages: str
    prior: float


_GUESSED: Mapping[str, _Encoding] = {
    "Windows-1252": _Encoding("cp1252", _WESTERN, 0),
    "Windows-1250": _Encoding("cp1250", _CENTRAL, 1),
    "Windows-1251": _Encoding("cp1251", _CYRILLIC, 1),
    "Windows-1253": _Encoding("cp1253", "el", 2),
    "Windows-1254": _Encoding("cp1254", "tr", 2),
    "Windows-1255": _Encoding("cp1255", "he", 2),
    "Windows-1256": _Encoding("cp1256", _SEMITIC, 2),
    "Windows-1257": _Encoding("cp1257", _BALTIC, 3),
    "Windows-874": _Encoding("cp874", "th", 3),
    "Shift-JIS": _Encoding("cp932", "ja", 1),
    "GB18030": _Encoding("gb18030", "zh_Hans", 1),
    "Big5": _Encoding("cp950", "zh_Hant", 2),
    "EUC-KR": _Encoding("cp949", "ko", 2),
    "EUC-JP": _Encoding("euc_jp", "ja", 3),
    "ISO-8859-2": _Encoding("iso8859_2", _CENTRAL, 4),
    "ISO-8859-5": _Encoding("iso8859_5", _CYRILLIC, 6),
    "ISO-8859-6": _Encoding("iso8859_6", "ar", 5),
    "ISO-8859-7": _Encoding("iso8859_7", "el", 4),
    "ISO-8859-15": _Encoding("iso8859_15", _WESTERN, 5),
    "KOI8-R": _Encoding("koi8_r", "ru", 3),
    "KOI8-U": _Encoding("koi8_u", "uk", 4),
    "Mac Roman": _Encoding("mac_roman", _WESTERN, 3),
    "Mac Central European": _Encoding("mac_latin2", _CENTRAL, 7),
    "Mac Cyrillic": _Encoding("mac_cyrillic", _CYRILLIC, 7),
    "Mac Greek": _Encoding("mac_greek", "el", 7),
    "Mac Turkish": _Encoding("mac_turkish", "tr", 7),
    "IBM437": _Encoding("cp437", _WESTERN, 5),
    "IBM737": _Encoding("cp737", "el", 6),
    "IBM850": _Encoding("cp850", _WESTERN, 4),
    "IBM852": _Encoding("cp852", _CENTRAL, 5),
    "IBM857": _Encoding("cp857", "tr", 6),
    "IBM862": _Encoding("cp862", "he", 7),
    "IBM866": _Encoding("cp866", _CYRILLIC, 4),
}
UTF_8 = "UTF-8"
_UNICODE = {
    UTF_8: "utf-8-sig", "UTF-16LE": "utf-16-le", "UTF-16BE": "utf-16-be", "UTF-32LE": "utf-32-le",
    "UTF-32BE": "utf-32-be",
}  # fmt: skip
_STATEFUL = {"ISO-2022-JP": "iso2022_jp_2", "ISO-2022-KR": "iso2022_kr"}
CODECS = _UNICODE | _STATEFUL | {name: encoding.codec for name, encoding in _GUESSED.items()}
# Bits.
_FOREIGN, _UNKNOWN, _UNUSUAL_PAIR = 12.0, 16.0, 3.0
_MIXED_CASE, _MIXED_SCRIPT, _BESIDE_LATIN = 7.0, 6.0, 5.0
_CONTROL, _MISPLACED = 24.0, 20.0
_LONELY_QUOTE = 10.0
_WRONG_ALPHABET = 15.0
_MAX_CONTEXT = 6.0
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
# Signs that stand beside letters, and others.
_BESIDE = dict.fromkeys("“”„«»‘’…€°©", 6.0) | dict.fromkeys("‚‹›£¡¿•²³ºª¢™®–—", 9.0)
_QUOTES = "“”„«»‘‚‹›"
_OPENING = "“„«‘¿¡‹‚£•€©"
_ALONE = dict.fromkeys("–—…•€§°№«»“”„‘’\xa0", 6.0)
_INSIDE = {"’": 3.0, "‘": 12.0, "\xad": 14.0, "–": 12.0, "—": 12.0, "…": 12.0}
_TOKEN = re.compile(rb"[\x30-\x7f]*[\x80-\xff][\x30-\xff]*")
_FRAME = range(0x2500, 0x25A0)
# The first byte of rare characters.
_RARE_LEADS = {
    "zh_Hans": ("gb2312", 0xD8),
    "zh_Hant": ("big5", 0xC9),
    "ja": ("shift_jis", 0x99),
    "ko": ("euc_kr", 0xC9),
}
_SEMI_RARE, _RARE = 11.0, 17.0


@cache
def _languages() -> dict[str, dict[str, float]]:
    """Return bits of pairs by language."""
    languages = {}
    for line in _PAIRS.read_text(encoding="utf-8").splitlines():
        name, _tab, entries = line.partition("\t")
        languages[name] = {
            entries[at : at + 2]: float(ord(entries[at + 2]) - ord("A")) for at in range(0, len(entries), 3)
        }
    return languages


@cache
def _letters(names: str) -> frozenset[str]:
    return frozenset(pair[1] for name in names.split() for pair in _languages()[name] if pair[0] == ".")


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
    context = _context(content)
    foreign = sum(byte > 127 for byte in sample) or 1
    costs = []
    for name, encoding in _GUESSED.items():
        try:
            text = codecs.getincrementaldecoder(encoding.codec)().decode(sample, final=is_whole)
        except UnicodeDecodeError:
            continue
        costs.append((name, (encoding.prior + _cost(text, encoding.languages, context)) / foreign))
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


class _Step(NamedTuple):
    first: str
    second: str


def _context(content: bytes) -> Mapping[str, float]:
    """Return bits by language that say how little the ASCII letters of a text's beginning are like it."""
    counts = Counter(content[:_SAMPLE_BYTES].decode("ascii", "ignore").lower())
    letters = {letter: count for letter, count in counts.items() if letter.isalpha()}
    bits = {
        name: sum(known.get("." + letter, 12.0) * count for letter, count in letters.items())
        for name, known in _languages().items()
    }
    least = min(bits.values())
    return {name: min(_MAX_CONTEXT, (cost - least) / 4) for name, cost in bits.items()}


def _cost(text: str, languages: str, context: Mapping[str, float]) -> float:
    pairs: Counter[_Step] = Counter()
    fixed = 0.0
    previous, before, script, cases = " ", " ", "", ""
    for character, after in zip(text, text[1:] + " ", strict=True):
        if unicodedata.category(character)[0] in "LM" and character not in "ªº":
            letter = character.lower()[:1]
            if not (character.isascii() and previous.isascii()):
                pairs[_Step(previous, letter)] += 1
            fixed += _cost_of_scripts(script, script := _script(letter))
            cases = (cases + ("u" if character.isupper() else "l"))[-3:]
            fixed += _MIXED_CASE * (cases.endswith("lu") or cases == "uul")
            previous = letter
        else:
            if not previous.isascii():
                pairs[_Step(previous, " ")] += 1
            if not character.isascii():
                fixed += _cost_of_sign(character, before, after)
            previous, script, cases = " ", "", ""
        before = character
    if sum(text.count(quote) for quote in _QUOTES) == 1:
        fixed += _LONELY_QUOTE
    if languages not in _LATIN and all((step.first + step.second).isascii() for step in pairs):
        fixed += _WRONG_ALPHABET
    return fixed + min(context[name] + _cost_of_pairs(pairs, name, _letters(languages)) for name in languages.split())


def _cost_of_scripts(before: str, script: str) -> float:
    if not before or not script or before == script:
        return 0.0
    return _BESIDE_LATIN if "EAST" in (before, script) else _MIXED_SCRIPT


def _cost_of_sign(sign: str, before: str, after: str) -> float:
    if unicodedata.category(sign) in ("Cc", "Co", "Cn"):
        return _CONTROL
    if ord(sign) in _FRAME:
        return _CONTROL if before.isalpha() or after.isalpha() else 2.0 if sign in (before, after) else 11.0
    if "\u3000" <= sign <= "\u303f" or "\uff00" <= sign <= "\uff5e":
        return 14.0 if before.isascii() and before.isalpha() else 6.0
    follows, precedes = before.isalpha(), after.isalpha()
    if sign == "·":
        return 5.0 if before == after == "l" else _MISPLACED
    if follows and precedes:
        return _INSIDE.get(sign, _MISPLACED)
    if sign == "\xa0":
        return 5.0 if after in ":;!?»%€" or before in "«:" or before.isdigit() else 10.0
    if follows:
        return _MISPLACED if sign in _OPENING else _BESIDE.get(sign, _MISPLACED)
    return _BESIDE.get(sign, 18.0) if precedes else _ALONE.get(sign, 14.0)


def _cost_of_pairs(pairs: Mapping[_Step, int], language: str, group: frozenset[str]) -> float:
    known = _languages()[language]
    cost = 0.0
    for (first, second), count in pairs.items():
        bits = known.get(first + second)
        if bits is None:
            bits = known.get("." + second)
            if language in _RARE_LEADS:
                bits = _bits_of_character(second, language) if bits is None else bits
            elif bits is not None:
                bits += _UNUSUAL_PAIR
            elif second.isascii():
                bits = 7.0
            else:
                bits = _FOREIGN if second in group else _UNKNOWN
        cost += bits * count
    return cost


def _bits_of_character(character: str, language: str) -> float:
    if character.isascii():
        return 7.0
    codec, rare_lead = _RARE_LEADS[language]
    try:
        encoded = character.encode(codec)
    except UnicodeEncodeError:
        return _RARE
    return _SEMI_RARE if len(encoded) == 2 and encoded[0] < rare_lead else _RARE


_EASTERN = ("CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "HALFWIDTH", "FULLWIDTH")


@cache
def _script(letter: str) -> str:
    name = unicodedata.name(letter, "").partition(" ")[0]
    return "EAST" if name in _EASTERN else "" if name == "COMBINING" else name
