"""Numbers within a tolerance."""

import re
from fractions import Fraction
from typing import Annotated, Literal

import msgspec

from benchmarks.scoring.numerals import Numeral, find_numerals
from benchmarks.scoring.ports import ScoredAnswer, Scorer, Settings, Target, Verdict, decided, not_extracted, texts_of

_NotNegative = Annotated[float, msgspec.Meta(ge=0, le=1e300)]


MAX_UNIT_CHARACTERS = 100


class NumberSettings(Settings, frozen=True):
    """percent: `either` takes 20 % for 20 and for 0.2 where only one of both texts has the sign; `exact` only for 0.2.

    units: if given, only a number with one of them behind it counts.
    """

    tolerance_abs: _NotNegative = 0.0
    tolerance_rel: _NotNegative = 0.0
    units: tuple[str, ...] = ()
    which: Literal["last", "first", "only"] = "last"
    decimal_comma: bool = False
    words: bool = False
    percent: Literal["either", "exact"] = "either"


class NumberScorer(Scorer):
    name = "number"
    settings = NumberSettings

    def target_error(self, target: Target) -> str:
        if not target:
            return "the target is empty"
        wrong = next((text for text in texts_of(target) if len(find_numerals(text)) != 1), None)
        return "" if wrong is None else f"{wrong[:100]!r} is not one number"

    def score(self, answer: ScoredAnswer, target: Target, settings: msgspec.Struct) -> Verdict:
        assert isinstance(settings, NumberSettings)
        found = [
            numeral
            for numeral in find_numerals(answer.text, decimal_comma=settings.decimal_comma, words=settings.words)
            if _has_unit(answer.text[numeral.end : numeral.end + MAX_UNIT_CHARACTERS], settings.units)
        ]
        if not found or (settings.which == "only" and len({numeral.value for numeral in found}) > 1):
            return not_extracted("no number" if not found else "more than one number")
        numeral = found[0] if settings.which == "first" else found[-1]
        references = []
        for text in texts_of(target):
            [reference] = find_numerals(text)
            references.append(reference)
        return decided(any(_is_close(numeral, reference, settings) for reference in references), numeral.written[:200])


def _has_unit(rest: str, units: tuple[str, ...]) -> bool:
    rest = rest.lstrip()
    return not units or any(re.match(rf"{re.escape(unit)}(?!\w)", rest, re.IGNORECASE) for unit in units)


def _is_close(numeral: Numeral, reference: Numeral, settings: NumberSettings) -> bool:
    wanted = _value(reference)
    given = [_value(numeral)]
    if settings.percent == "either" and numeral.is_percent != reference.is_percent:
        given.append(given[0] * 100 if numeral.is_percent else given[0] / 100)
    tolerance = max(Fraction(settings.tolerance_abs), Fraction(settings.tolerance_rel) * abs(wanted))
    return any(abs(value - wanted) <= tolerance for value in given)


def _value(numeral: Numeral) -> Fraction:
    return numeral.value / 100 if numeral.is_percent else numeral.value


SCORERS: tuple[Scorer, ...] = (NumberScorer(),)
