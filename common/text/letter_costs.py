"""Bits that a text costs in a language, by the letters that the language writes beside each other."""

import unicodedata
from collections import Counter
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

_PAIRS = Path(__file__).with_name("letter_pairs.txt")  # written by tools.letter_pairs
# Languages that share encodings.
WESTERN = "fr de es it pt pt_BR nl da nb sv fi is ca gl"
CENTRAL = "pl cs sk sl hr hu ro sq de"
BALTIC = "et lv lt"
CYRILLIC = "ru uk be bg mk sr"
SEMITIC = "ar fa"
_LATIN = (WESTERN, CENTRAL, BALTIC, "tr")
# A text's beginning tells its language.
_BEGINNING_BYTES = 4_000
_FOREIGN, _UNKNOWN, _UNUSUAL_PAIR = 12.0, 16.0, 3.0
_MIXED_CASE, _MIXED_SCRIPT, _BESIDE_LATIN = 7.0, 6.0, 5.0
_CONTROL, _MISPLACED = 24.0, 20.0
_LONELY_QUOTE = 10.0
_WRONG_ALPHABET = 15.0
_MAX_CONTEXT = 6.0
# Signs that stand beside letters, and others.
_BESIDE = dict.fromkeys("“”„«»‘’…€°©", 6.0) | dict.fromkeys("‚‹›£¡¿•²³ºª¢™®–—", 9.0)
_QUOTES = "“”„«»‘‚‹›"
_OPENING = "“„«‘¿¡‹‚£•€©"
_ALONE = dict.fromkeys("–—…•€§°№«»“”„‘’\xa0", 6.0)
_INSIDE = {"’": 3.0, "‘": 12.0, "\xad": 14.0, "–": 12.0, "—": 12.0, "…": 12.0}
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


class _Step(NamedTuple):
    first: str
    second: str


def context_of(content: bytes) -> Mapping[str, float]:
    """Return bits by language that say how little the ASCII letters of a text's beginning are like it."""
    counts = Counter(content[:_BEGINNING_BYTES].decode("ascii", "ignore").lower())
    letters = {letter: count for letter, count in counts.items() if letter.isalpha()}
    bits = {
        name: sum(known.get("." + letter, 12.0) * count for letter, count in letters.items())
        for name, known in _languages().items()
    }
    least = min(bits.values())
    return {name: min(_MAX_CONTEXT, (cost - least) / 4) for name, cost in bits.items()}


def cost_of(text: str, languages: str, context: Mapping[str, float]) -> float:
    """Return the bits of a text in the likeliest of `languages`. context: of `context_of`, for the whole text."""
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
