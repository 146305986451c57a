"""Numbers as people and models write them. One whose value cannot be told has none, and is never another number."""

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

from benchmarks.scoring.reading.number_words import find_number_words
from benchmarks.scoring.reading.numeral_text import FORMULA, numeral_text

# Longer numbers are not compared.
MAX_DIGITS = 400
MAX_EXPONENT = 400
MAX_REST = 100
_SPACE = "[ \u00a0\u202f\u2009]"
_DIGITS = rf"\d{{1,{MAX_DIGITS}}}(?!\d)"
_INDIAN = r"\d{1,2}(?:,\d{2}){1,20},\d{3}(?:\.\d{1,99})?"
_APOSTROPHES = r"\d{1,3}(?:'\d{3}){1,40}(?:[.,]\d{1,99})?"
_SPACES = rf"[1-9]\d{{0,2}}(?:{_SPACE}\d{{3}}(?!\d)){{1,40}}(?:[.,]\d{{1,99}})?"
_UNDERSCORES = r"\d{1,3}(?:_\d{3}){1,40}(?:\.\d{1,99})?"
_COMMAS = r"[1-9]\d{0,2}(?:,\d{3}){1,99}(?:\.\d{1,99})?"
_DOTS = r"[1-9]\d{0,2}(?:(?:\.\d{3}){1,99},\d{1,99}|(?:\.\d{3}){2,99})"
_COMMAS_FOR_SURE = r"[1-9]\d{0,2}(?:(?:,\d{3}){1,99}\.\d{1,99}|(?:,\d{3}){2,99})"
_DOTS_ALWAYS = r"[1-9]\d{0,2}(?:\.\d{3}){1,99}(?:,\d{1,99})?"
_PLAIN = rf"{_DIGITS}(?:[.,]{_DIGITS})?|\.{_DIGITS}"
_NUMBERS = {
    comma: rf"(?:{'|'.join((_INDIAN, *grouped, _APOSTROPHES, _SPACES, _UNDERSCORES, _PLAIN))})(?!\d|[.,'_]\d)"
    for comma, grouped in ((False, (_COMMAS, _DOTS)), (True, (_COMMAS_FOR_SURE, _DOTS_ALWAYS)))
}
# Signs and digits that are no number: dates, times, versions, telephone numbers, names, ordinals, notes, steps.
_SKIPPED = "|".join((
    r"(?<![\w.,/-])\d{4}-\d{1,2}-\d{1,2}(?:T[\d:.]{1,20}Z?)?(?![\w/-])",
    r"(?<![\w.,/-])\d{1,2}[/.]\d{1,2}[/.](?:\d{4}|\d{2})(?![\w/-]|\.\d)",
    r"(?<![\w.,/-])\d{4}/\d{1,2}/\d{1,2}(?![\w/-])",
    r"(?<!\w)\d{1,3}(?::\d{1,3}){1,5}(?!\w)",
    r"(?<!\w)\d{1,2}h\d{2}(?!\w)",
    r"(?<!\w)(?!\d{1,3}(?:\.\d{3}){2,99}(?:,\d{1,99})?(?![\d.]))\d{1,9}(?:\.\d{1,9}){2,9}(?!\w)",
    r"\+\d{1,3}(?:[ .-]\(?\d{1,4}\)?){2,6}(?!\d)",
    r"\(\d{3}\) ?\d{3}-\d{4}(?!\d)",
    r"(?<![\w.-])\d{3}-\d{3}-\d{4}(?!\d)",
    r"(?<!\w)0\d(?: \d{2}){4}(?!\d)",
    r"(?<!\w)(?i:step|question|problem|exercise|figure|fig\.|table|chapter|section|option|choice|example|equation|"
    r"version|étape|exercice|chapitre|schritt|frage|kapitel|abschnitt|aufgabe|paso|pregunta|capítulo|sección)"
    r"\s{1,2}\d{1,5}(?:\.\d{1,5}){0,5}(?!\w)",
    r"(?<!\w)\d{1,9}(?:st|nd|rd|th|er|re|ère|e|ème|º|ª)(?!\w)",
    r"(?<!\w)\d{1,2}[DG](?!\w)",
    r"(?<=[\w.!?])\[\d{1,3}\]|(?<=[\w.!?] )\[\d{1,3}\]",
    rf"(?<![\w{FORMULA}])(?!(?:EUR|USD|CHF|GBP|Rs)\d)[^\W\d_]{{1,40}}(?:[\w.‑-]{{0,40}}[\w])?(?<=\d)(?:[.-]\d{{1,9}}){{0,5}}(?!\w)",
    r"(?<=[^\W\d_])\^\{?[-−]?\d{1,9}\}?",
))  # fmt: skip
_SCALES = {
    **dict.fromkeys(("hundred", "hundreds", "hundert"), 100),
    **dict.fromkeys(("thousand", "thousands", "tausend", "mille", "mil"), 1000),
    **dict.fromkeys(("million", "millions", "millionen", "millón", "millones", "mio", "mio.", "mln"), 10**6),
    **dict.fromkeys(("billion", "billions", "bn", "milliard", "milliards", "milliarde", "milliarden"), 10**9),
    **dict.fromkeys(("mrd", "mrd."), 10**9),
    **dict.fromkeys(("trillion", "trillions", "tn", "billionen", "billones"), 10**12),
    **dict.fromkeys(("lakh", "lakhs", "lac"), 10**5), **dict.fromkeys(("crore", "crores"), 10**7),
    **dict.fromkeys(("dozen", "dozens"), 12),
}  # fmt: skip
_LETTER_SCALES = {"k": 1000, "m": 10**6, "b": 10**9, "t": 10**12}
_SCALE = rf"[\s-]?(?:{'|'.join(re.escape(word) for word in sorted(_SCALES, key=len, reverse=True))})(?!\w)"
_CURRENCY = r"(?:(?:US|CA|AU|R)?[$€£¥₹])"
_SIGN = r"[-+−–—‐]\s?|(?<!\w)(?:minus|negative|moins|menos|negativ)\s{1,2}"


def _power(name: str) -> str:
    return rf"\s?\^\s?[{{(]?\s?(?P<{name}>[-+−]?\s?\d{{1,9}})\s?[}})]?(?!\w)"


_PATTERNS = {
    comma: re.compile(
        rf"(?P<skipped>{_SKIPPED})"
        rf"|(?P<formula>(?:\d[\d.,]{{0,40}}\s?)?{FORMULA}|(?<!\w)0[xXbBoO][0-9A-Fa-f]{{1,99}}(?!\w))"
        rf"|\({_CURRENCY}\s?(?P<accounting>{number})\)"
        rf"|(?<![\w.])(?P<currency>{_CURRENCY}\s?)?(?P<sign>{_SIGN})?(?P<currency_2>{_CURRENCY}\s?)?"
        rf"(?:10{_power('of_ten')}"
        rf"|(?P<number>{number})"
        rf"(?:\s?[×x*·⋅]\s?10{_power('power')}"
        rf"|[eE](?P<exponent>[-+−]?\d{{1,9}})(?!\w))?"
        rf"(?:\s(?P<part>\d{{1,3}})\s?[/⁄]\s?(?P<of>\d{{1,3}})(?![\d/⁄]|[.,]\d)"
        rf"|\s?[/⁄]\s?(?P<denominator>\d{{1,15}})(?![\d/⁄]|[.,]\d))?"
        rf"(?:\s?(?:±|\+/-)\s?\d{{1,30}}(?:[.,]\d{{1,30}})?)?"
        rf"|(?P<junk>\d[\d.,'_]*))"
        rf"(?P<scale>(?i:{_SCALE}){{0,2}})(?P<letter>\s?[kKmMbBT](?!\w))?"
        rf"(?P<percent>\s?(?:%|‰|(?i:percent|per cent|pour cent|prozent|por ciento|pct)(?!\w)))?",
    )
    for comma, number in _NUMBERS.items()
}
_PERCENT_WORDS = re.compile(r"\s?(?:%|(?i:percent|per cent|pour cent|prozent|por ciento)(?!\w))")
_MINUS_WORD = re.compile(r"(?<!\w)(?:minus|negative|moins)\s{1,2}\Z", re.IGNORECASE)
_LIST_MARK = re.compile(r"(?m)^[ \t]*(\d{1,3})[.)](?=[ \t]+\S)")
_RANGE = re.compile(r"\s?(?:to|or|through|until|bis|oder|ou|à|a|o)\s", re.IGNORECASE)
_AND = re.compile(r"\s(?:and|et|und|y)\s", re.IGNORECASE)
_BETWEEN = re.compile(r"\b(?:between|entre|zwischen)\s[$€£]?\Z", re.IGNORECASE)
_OPERATOR = re.compile(
    r"[\s)$]*(?:[+*×·⋅÷/^]|\bx\b|(?:plus|times|divided by|fois|mal)\b)[\s($]*|[\s)]{0,9}(?=minus|moins|menos)",
    re.IGNORECASE,
)
_NOT = re.compile(r"\b(?:not|pas|nicht)\s(?:\w{1,9}\s)?[$€£]?\Z", re.IGNORECASE)
_BOUND = re.compile(
    r"(?:(?<![-=<>])[<>≤≥]=?|\b(?:more|less|fewer|greater|higher|lower) than|\bat (?:least|most)|\bup to"
    r"|\bau (?:moins|plus)|\b(?:plus|moins) de|\bmindestens|\bhöchstens"
    r"|\b(?:mehr|weniger) als|\bal menos|\b(?:más|menos) de)\s?[$€£]?\Z",
    re.IGNORECASE,
)
_OPERAND = re.compile(r"[a-z)]\s?[/*^+]\s?\Z")
_DASH = re.compile(r"\s?[-–—‐~]\s?")
_GLUED = re.compile(r"\s?\^|[xyznab](?!\w)|[/*]\s?[a-z](?!\w)|\s?[*×]\s?10(?!\d)")


@dataclass(frozen=True)
class Numeral:
    """value: without the percent sign; None if it cannot be told. rest: the text behind it.

    bare, bare_rest: the same without a multiplier, which may be a unit.
    """

    value: Fraction | None
    is_percent: bool
    written: str
    start: int
    end: int
    rest: str = ""
    bare: Fraction | None = None
    bare_rest: str = ""
    is_negated: bool = False


def find_numerals(text: str, *, decimal_comma: bool = False, words: bool = False) -> list[Numeral]:
    """Return a text's numbers in its order; 1,234 is a thousand unless `decimal_comma`, and 3,5 is 3.5.

    Without `words`, a number in words that is surely one has no value.
    """
    text = _without_list_marks(numeral_text(text))
    numerals = [
        _read(match, decimal_comma) for match in _PATTERNS[decimal_comma].finditer(text) if match["skipped"] is None
    ]
    numerals = sorted([*numerals, *_in_words(text, numerals, words)], key=lambda numeral: numeral.start)
    return _without_ambiguous(text, numerals)


def _without_list_marks(text: str) -> str:
    """Blank out "1.", "2.", … at the start of lines."""
    marks = {int(match[1]) for match in _LIST_MARK.finditer(text)}

    def blank(match: "re.Match[str]") -> str:
        number = int(match[1])
        is_mark = number == 1 or number - 1 in marks
        return " " * len(match[0]) if is_mark else match[0]

    return _LIST_MARK.sub(blank, text) if 1 in marks else text


def _read(match: "re.Match[str]", decimal_comma: bool) -> Numeral:
    value = bare = _value(match, decimal_comma)
    text, end = match.string, match.end()
    scale, percent = 1, (match["percent"] or "").strip()
    for word in re.findall(r"[^\s-]+", match["scale"] or ""):
        scale *= _SCALES[word.casefold()]
    letter = match["letter"] or ""
    has_currency = bool(match["currency"] or match["currency_2"])
    if letter:
        is_glued = not letter[0].isspace()
        if has_currency or (is_glued and letter in ("k", "K", "M", "B")):
            scale *= _LETTER_SCALES[letter.strip().casefold()]
        else:
            end, percent = match.start("letter"), ""
    bare_end = match.start("scale") if match["scale"] else match.start("letter") if letter else end
    if has_currency and (match["scale"] or "").strip().casefold() == "mil":
        value = None  # a million in English, a thousand in Spanish
    if value is not None and (scale != 1 or percent == "‰"):
        value = value * scale / (1000 if percent == "‰" else 1)
    if _GLUED.match(text, end) or (text[end : end + 1] == FORMULA):
        value = bare = None
    sign = _sign(match)
    if sign is None:
        value = bare = None
    elif sign < 0 and value is not None and bare is not None:
        value, bare = -value, -bare
    return Numeral(
        value, percent not in ("", "‰"), text[match.start() : end].strip(), match.start(), end,
        text[end : end + MAX_REST], bare, text[bare_end : bare_end + MAX_REST],
    )  # fmt: skip


def _value(match: "re.Match[str]", decimal_comma: bool) -> Fraction | None:
    if match["formula"] or match["junk"]:
        return None
    if match["of_ten"]:
        exponent, value = _exponent(match["of_ten"]), Fraction(1)
    else:
        exponent = _exponent(match["exponent"] or match["power"] or "0")
        value = Fraction(_with_decimal_point(match["accounting"] or match["number"], decimal_comma))
    if abs(exponent) > MAX_EXPONENT:
        return None
    if exponent:
        value *= Fraction(10) ** exponent
    if match["part"]:
        part, of = int(match["part"]), int(match["of"])
        return value + Fraction(part, of) if part < of and value.denominator == 1 else None
    if not match["denominator"]:
        return value
    denominator = int(match["denominator"])
    return value / denominator if denominator else None


def _exponent(written: str) -> int:
    return int(written.replace("−", "-").replace(" ", ""))


def _with_decimal_point(number: str, decimal_comma: bool) -> str:
    """Return the number without separators of thousands."""
    number = re.sub(rf"['_]|{_SPACE}", "", number)
    commas, dots = number.count(","), number.count(".")
    if commas and dots:
        decimal = max(",.", key=number.rfind)
        number = number.replace("." if decimal == "," else ",", "")
    elif commas > 1 or dots > 1:
        number = number.replace(",", "").replace(".", "")
    elif dots and decimal_comma and re.fullmatch(r"[1-9]\d{0,2}\.\d{3}", number):
        number = number.replace(".", "")
    elif commas and not decimal_comma and re.fullmatch(r"[1-9]\d{0,2},\d{3}", number):
        number = number.replace(",", "")
    return number.replace(",", ".")


def _sign(match: "re.Match[str]") -> int | None:
    """Return 1 or −1; None where a sign may be a dash, a range or a subtraction."""
    sign = match["sign"]
    if match["accounting"]:
        return -1
    if not sign:
        return 1
    before = match.string[max(0, match.start() - 200) : match.start()]
    trimmed = before.rstrip(" \t$({[")
    is_after_number = trimmed[-1:].isdigit() or (trimmed[-1:] in (")", "%", "}") and bool(trimmed))
    if sign[0] not in "-+−–—‐":
        return None if is_after_number else -1
    if is_after_number:
        return None
    if sign == "+" or sign[0] == "+":
        return 1
    number = match["number"] or ""
    if len(number) > 1 and number[0] == "0" and number.isdigit():
        return None
    if len(sign) == 1:
        return 1 if sign == "—" else -1
    if not trimmed or trimmed[-1] == "\n":
        if sign[0] == "−":
            return -1
        return 1 if "\n" in match.string.strip() else None
    if trimmed[-1] in "=:<≈~,&":
        return -1
    return 1 if sign[0] in "–—" else None


def _in_words(text: str, read: list[Numeral], words: bool) -> list[Numeral]:
    taken = {position for numeral in read for position in range(numeral.start, numeral.end)}
    numbers: list[Numeral] = []
    end = 0
    for number in find_number_words(text):
        if number.start in taken or number.start < end or (number.is_plain and not words):
            continue
        value, start, end = number.value, number.start, number.end
        if not words and any(value == numeral.value for numeral in read[-20:]):
            continue  # "42 (forty-two)"
        if minus := _MINUS_WORD.search(text[max(0, start - 12) : start]):
            start -= len(minus[0])
            value = None if value is None else -value
        percent = _PERCENT_WORDS.match(text, end)
        end = percent.end() if percent else end
        numbers.append(
            Numeral(
                value if words else None,
                bool(percent),
                text[start:end],
                start,
                end,
                text[end : end + MAX_REST],
                value if words else None,
                text[number.end : number.end + MAX_REST],
            )
        )
    return numbers


def _without_ambiguous(text: str, numerals: list[Numeral]) -> list[Numeral]:
    """Return numbers without values where they are bounds, ranges, operands or one of two."""
    unknown: set[int] = set()
    for number, numeral in enumerate(numerals):
        before = text[max(0, numeral.start - 30) : numeral.start]
        if _BOUND.search(before) or _OPERAND.search(before):
            unknown.add(number)
        if _NOT.search(before):
            numerals[number] = replace(numeral, is_negated=True)
    for number, (first, second) in enumerate(pairwise(numerals)):
        between = text[first.end : second.start]
        if len(between) > 20:
            continue
        is_joined = not between and text[second.start : second.start + 1] in "-–—‐−"
        is_range = _RANGE.fullmatch(between) or _DASH.fullmatch(between)
        if is_joined or is_range or (_AND.fullmatch(between) and _is_between(text, first)):
            unknown |= {number, number + 1}
        elif _OPERATOR.fullmatch(between) or (_is_scaled(first) and not between.strip()):
            unknown.add(number + 1)
    whole = text.strip(" \n.*$")
    if len(numerals) == 1 and whole == f"({numerals[0].written})" and whole[1:2].isdigit():
        unknown.add(0)
    return [
        replace(numeral, value=None, bare=None) if number in unknown else numeral
        for number, numeral in enumerate(numerals)
    ]


def _is_between(text: str, numeral: Numeral) -> bool:
    return _BETWEEN.search(text[max(0, numeral.start - 20) : numeral.start]) is not None


def _is_scaled(numeral: Numeral) -> bool:
    return numeral.value != numeral.bare
