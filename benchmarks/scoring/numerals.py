"""Numbers as people and models write them."""

import re
from dataclasses import dataclass
from fractions import Fraction

# Longer numbers are not compared.
MAX_DIGITS = 400
MAX_EXPONENT = 400
_SPACES = " \u00a0\u202f\u2009"
_GROUPED = r"\d{1,3}(?:[,'’\u00a0\u202f\u2009]\d{3}(?!\d))+(?:\.\d+)?"
_GROUPED_WITH_DECIMAL_COMMA = rf"\d{{1,3}}(?:[.'’{_SPACES}]\d{{3}}(?!\d))+(?:,\d+)?"
_TAIL = r"(?:\s?[×x*]\s?10\s?\^\s?\{?(?P<power>[-+−]?\d{1,9})\}?|[eE](?P<exponent>[-+]?\d{1,9})(?!\w))?"
_FRACTION = r"(?:\s?/\s?(?P<denominator>\d{1,15})(?![\d/]))?"
_PATTERNS = {
    comma: re.compile(
        rf"(?<![\w.])(?P<sign>[-+−]?)\s?[$€£]?\s?(?P<number>{grouped}|\d{{1,{MAX_DIGITS}}}(?!\d)(?:[.,]\d{{1,{MAX_DIGITS}}}(?!\d))?"
        rf"|\.\d{{1,{MAX_DIGITS}}}){_TAIL}{_FRACTION}(?P<percent>\s?%)?"
    )
    for comma, grouped in ((False, _GROUPED), (True, _GROUPED_WITH_DECIMAL_COMMA))
}
WORDS = {
    word: Fraction(value)
    for value, words in enumerate((
        ("zero", "zéro"), ("one", "un", "une"), ("two", "deux"), ("three", "trois"), ("four", "quatre"),
        ("five", "cinq"), ("six",), ("seven", "sept"), ("eight", "huit"), ("nine", "neuf"), ("ten", "dix"),
        ("eleven", "onze"), ("twelve", "douze"), ("thirteen", "treize"), ("fourteen", "quatorze"),
        ("fifteen", "quinze"), ("sixteen", "seize"), ("seventeen",), ("eighteen",), ("nineteen",), ("twenty", "vingt"),
    ))
    for word in words
}  # fmt: skip
_WORD = re.compile(rf"\b(?:{'|'.join(sorted(WORDS, key=len, reverse=True))})\b", re.IGNORECASE)


@dataclass(frozen=True)
class Numeral:
    """value: without the percent sign; end: position behind it in the text."""

    value: Fraction
    is_percent: bool
    written: str
    start: int
    end: int


def find_numerals(text: str, *, decimal_comma: bool = False, words: bool = False) -> list[Numeral]:
    """Return a text's numbers in its order; 1,234 is a thousand unless `decimal_comma`, and 3,5 is 3.5."""
    found = [
        numeral
        for match in _PATTERNS[decimal_comma].finditer(text)
        if (numeral := _read(match, decimal_comma)) is not None
    ]
    if words:
        found += [
            Numeral(WORDS[match[0].lower()], False, match[0], match.start(), match.end())
            for match in _WORD.finditer(text)
        ]
        found.sort(key=lambda numeral: numeral.start)
    return found


def _read(match: "re.Match[str]", decimal_comma: bool) -> Numeral | None:
    number = re.sub(rf"['’{_SPACES}]", "", match["number"])
    if decimal_comma:
        number = number.replace(".", "") if re.fullmatch(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?", number) else number
    elif re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", number):
        number = number.replace(",", "")
    exponent = int((match["exponent"] or match["power"] or "0").replace("−", "-"))
    denominator = int(match["denominator"] or 1)
    if abs(exponent) > MAX_EXPONENT or denominator == 0:
        return None
    value = Fraction(number.replace(",", ".")) * Fraction(10) ** exponent / denominator
    return Numeral(
        -value if match["sign"] in ("-", "−") else value,
        bool(match["percent"]),
        match[0].strip(),
        match.start(),
        match.end(),
    )
