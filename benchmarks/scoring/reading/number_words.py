"""Numbers in words, in English and French."""

import re
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

_EN = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_EN_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_FR = (
    "zéro", "un", "deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf", "dix", "onze", "douze", "treize",
    "quatorze", "quinze", "seize", "dix-sept", "dix-huit", "dix-neuf",
)  # fmt: skip
_FR_TENS = {
    "vingt": 20, "trente": 30, "quarante": 40, "cinquante": 50, "soixante": 60, "septante": 70, "huitante": 80,
    "octante": 80, "nonante": 90,
}  # fmt: skip
Words = tuple[str, ...]


def _english() -> dict[Words, int]:
    values: dict[Words, int] = {(word,): value for value, word in enumerate(_EN)}
    for number, tens in enumerate(_EN_TENS, 2):
        values[tens,] = 10 * number
        values.update({(tens, _EN[unit]): 10 * number + unit for unit in range(1, 10)})
    return values


def _french() -> dict[Words, int]:
    values: dict[Words, int] = {tuple(word.split("-")): value for value, word in enumerate(_FR)} | {("une",): 1}
    tens = {(word,): (value, 9) for word, value in _FR_TENS.items()} | {("quatre", "vingt"): (80, 19)}
    tens["soixante",] = (60, 19)
    for words, (value, last_unit) in tens.items():
        values[words] = value
        for unit in range(1, last_unit + 1):
            for between in ((), ("et",)) if unit in (1, 11) else ((),):
                values[(*words, *between, *_FR[unit].split("-"))] = value + unit
    return values | {("quatre", "vingts"): 80}


@dataclass(frozen=True)
class _Language:
    """articles: words for one before hundred and thousand; "" where these need none."""

    small: dict[Words, int]
    hundred: frozenset[str]
    scales: dict[str, int]
    joins: str
    articles: frozenset[str]
    points: frozenset[str]


_LANGUAGES = (
    _Language(
        _english(), frozenset({"hundred"}),
        {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}, "and", frozenset({"a"}),
        frozenset({"point"}),
    ),
    _Language(
        _french(), frozenset({"cent", "cents"}),
        {"mille": 10**3, "million": 10**6, "millions": 10**6, "milliard": 10**9, "milliards": 10**9}, "",
        frozenset({""}), frozenset({"virgule"}),
    ),
)  # fmt: skip
_LONGEST = 5
_TOKEN = re.compile(r"[^\W\d_]+")
_BETWEEN = re.compile(r"\s?-\s?|\s{1,2}")
_PARTS = re.compile(
    r"\s(?:(?:and a |et )?(?:half|demie?|quarter|quart)|halves|thirds?|quarters|fourths?|fifths?|sixths?|eighths?|"
    r"tenths?|tiers|quarts|cinquièmes?|dixièmes?)(?!\w)",
    re.IGNORECASE,
)
_ONES = frozenset({"one", "un", "une"})
_IS = re.compile(r"(?:\b(?:is|are|equals|est|sont|answer|réponse)|[=:])\s*\Z", re.IGNORECASE)
_ENDS = re.compile(r"\s*(?:[.,;!?)]|\Z)")


@dataclass(frozen=True)
class NumberInWords:
    """value: None where it cannot be told; is_plain: one word that also stands for no number."""

    value: Fraction | None
    start: int
    end: int
    is_plain: bool


def find_number_words(text: str) -> list[NumberInWords]:
    """Return numbers in words in the text's order; "one" only where nothing else can be meant."""
    tokens = list(_TOKEN.finditer(text))
    words = [match[0].casefold() for match in tokens]
    ends = [not _BETWEEN.fullmatch(text, first.end(), second.start()) for first, second in pairwise(tokens)] + [True]
    numbers: list[NumberInWords] = []
    position = 0
    while position < len(tokens):
        run = position
        while not ends[run] and run - position < 40:
            run += 1
        value, length = _longest(words[position : run + 1])
        if not length:
            position += 1
            continue
        last = position + length - 1
        start, end = tokens[position].start(), tokens[last].end()
        follows = not ends[last] and _longest(words[last + 1 : run + 1])[1]
        if follows or _PARTS.match(text, end):
            value, last = None, last + int(follows)
            end = tokens[last].end()
        position = last + 1
        if text[start - 1 : start] in ("-", "'") and start:
            continue
        is_one = length == 1 and words[last] in _ONES
        if is_one and not ((_IS.search(text[max(0, start - 30) : start]) or not start) and _ENDS.match(text, end)):
            continue
        numbers.append(NumberInWords(value, start, end, length == 1 and (value is None or value < 13 or value >= 100)))
    return numbers


def _longest(words: list[str]) -> tuple[Fraction | None, int]:
    """Return the value of the words at the start and how many they are; 0 words without one."""
    return max((_read(words, language) for language in _LANGUAGES), key=lambda pair: pair[1])


def _read(words: list[str], language: _Language) -> tuple[Fraction | None, int]:
    total, position, limit = 0, 0, 10**15
    while True:
        after = position
        if position and after < len(words) and words[after] == language.joins:
            after += 1
        value, length = _below_thousand(words[after:], language)
        scale = language.scales.get(words[after + length]) if after + length < len(words) else None
        if not length and (scale is None or scale > 1000 or "" not in language.articles):
            break
        value = value if length else 1
        if scale is not None and scale < limit:
            total, position, limit = total + value * scale, after + length + 1, scale
            continue
        if length and limit > 999:
            total, position = total + value, after + length
        break
    if not position:
        return None, 0
    if position + 1 < len(words) and words[position] in language.points:
        digits = ""
        for word in words[position + 1 :]:
            digit = language.small.get((word,), 10)
            if digit > 9:
                break
            digits += str(digit)
        if digits:
            return total + Fraction(int(digits), 10 ** len(digits)), position + 1 + len(digits)
    return Fraction(total), position


def _below_thousand(words: list[str], language: _Language) -> tuple[int, int]:
    value, length = _small(words, language)
    if not length and words and words[0] in language.articles and len(words) > 1:
        is_counted = words[1] in language.hundred or words[1] in language.scales
        value, length = (1, 1) if is_counted else (0, 0)
    is_bare = not length and "" in language.articles
    if (length or is_bare) and length < len(words) and words[length] in language.hundred:
        value, length = (value if length else 1) * 100, length + 1
        after = length + (length < len(words) and words[length] == language.joins)
        rest, more = _small(words[after:], language)
        if more:
            value, length = value + rest, after + more
    return value, length


def _small(words: list[str], language: _Language) -> tuple[int, int]:
    for length in range(min(_LONGEST, len(words)), 0, -1):
        if (value := language.small.get(tuple(words[:length]))) is not None:
            return value, length
    return 0, 0
