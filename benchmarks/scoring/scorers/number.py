"""Numbers within a tolerance."""

import re
from dataclasses import replace
from fractions import Fraction
from typing import Annotated, Literal

import msgspec

from benchmarks.scoring.ports import (
    ScoredAnswer,
    Scorer,
    Settings,
    Target,
    Verdict,
    decided,
    empty_target_error,
    not_extracted,
    texts_of,
)
from benchmarks.scoring.reading.numerals import Numeral, find_numerals
from benchmarks.scoring.refusals import Refusal

_NotNegative = Annotated[float, msgspec.Meta(ge=0, le=1e300)]


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
    version = "2"
    settings = NumberSettings

    def target_error(self, target: Target) -> Refusal | str:
        wrong = next((text for text in texts_of(target) if _only_number(text) is None), None)
        return empty_target_error(target) if wrong is None else Refusal("target_no_number", text=repr(wrong[:100]))

    def score(self, answer: ScoredAnswer, target: Target, settings: msgspec.Struct) -> Verdict:
        assert isinstance(settings, NumberSettings)
        numerals = find_numerals(answer.text, decimal_comma=settings.decimal_comma, words=settings.words)
        candidates = [in_unit for numeral in numerals if (in_unit := _with_unit(numeral, settings.units))]
        if settings.which == "only" and len({numeral.value for numeral in candidates}) > 1:
            return not_extracted("more than one number")
        candidates = [numeral for numeral in candidates if not numeral.is_negated]
        if not candidates:
            return not_extracted("no number")
        numeral = candidates[0] if settings.which == "first" else candidates[-1]
        if numeral.value is None:
            return not_extracted(f"the value of {numeral.written[:200]!r} cannot be told")
        references = filter(None, map(_only_number, texts_of(target)))
        return decided(any(_is_close(numeral, reference, settings) for reference in references), numeral.written[:200])


def _only_number(text: str) -> Numeral | None:
    numerals = find_numerals(text)
    return numerals[0] if len(numerals) == 1 and numerals[0].value is not None and not numerals[0].is_negated else None


def _with_unit(numeral: Numeral, units: tuple[str, ...]) -> Numeral | None:
    """Return the number if a unit follows; one that looks like a multiplier, such as M, is none then."""
    if not units or _has_unit(numeral.rest, units):
        return numeral
    return replace(numeral, value=numeral.bare) if _has_unit(numeral.bare_rest, units) else None


def _has_unit(rest: str, units: tuple[str, ...]) -> bool:
    return any(re.match(rf"{re.escape(unit)}(?!\w)", rest.lstrip(), re.IGNORECASE) for unit in units)


def _is_close(numeral: Numeral, reference: Numeral, settings: NumberSettings) -> bool:
    wanted = _value(reference)
    given = [_value(numeral)]
    if settings.percent == "either" and numeral.is_percent != reference.is_percent:
        given.append(given[0] * 100 if numeral.is_percent else given[0] / 100)
    tolerance = max(Fraction(settings.tolerance_abs), Fraction(settings.tolerance_rel) * abs(wanted))
    return any(abs(value - wanted) <= tolerance for value in given)


def _value(numeral: Numeral) -> Fraction:
    assert numeral.value is not None
    return numeral.value / 100 if numeral.is_percent else numeral.value


SCORERS: tuple[Scorer, ...] = (NumberScorer(),)
