"""Mathematical answers: equal in value, not in writing."""

import logging
import re
from importlib.util import find_spec
from typing import Annotated, Protocol

import msgspec

from benchmarks.scoring.ports import (
    ScoredAnswer,
    Scorer,
    Settings,
    Target,
    Verdict,
    absent_target_error,
    decided,
    not_extracted,
    texts_of,
)
from benchmarks.scoring.refusals import Refusal

# A bare expression in an answer is read as LaTeX; prose is not.
MAX_BARE_CHARACTERS = 200
_BARE = re.compile(r"[^\n]*[\d=^\\+*/()][^\n]*|[A-Za-z]")
_WORD = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{3,}")
_FUNCTIONS = {"sin", "cos", "tan", "log", "exp", "sqrt", "max", "min"}


class MathSettings(Settings, frozen=True):
    """float_rounding: decimals that are compared; strict: names of variables count, a set differs from a tuple."""

    float_rounding: Annotated[int, msgspec.Meta(ge=0, le=15)] = 6
    strict: bool = True

    def __post_init__(self) -> None:
        if find_spec("math_verify") is None:
            raise Refusal("math_not_installed")


class _Parse(Protocol):
    def __call__(self, text: str, *, parsing_timeout: None, fallback_mode: str) -> list[object]: ...


class MathScorer(Scorer):
    """Compares LaTeX or expressions by math-verify and sympy, whose own time-outs need signals and are off."""

    name = "math"
    settings = MathSettings
    needs_child = True

    def load(self) -> None:
        import math_verify

        logging.getLogger("math_verify").setLevel(logging.ERROR)
        math_verify.parse("$1$", parsing_timeout=None)

    def target_error(self, target: Target) -> Refusal | str:
        return absent_target_error(target)

    def score(self, answer: ScoredAnswer, target: Target, settings: msgspec.Struct) -> Verdict:
        from math_verify import parse, verify

        assert isinstance(settings, MathSettings)
        references = [_parsed(parse, text, is_reference=True) for text in texts_of(target)]
        if [] in references:
            raise ValueError("the target is not a mathematical expression")
        given = _parsed(parse, answer.text, is_reference=False)
        if not given:
            return not_extracted("no mathematical expression")
        is_equal = any(
            verify(
                reference,
                given,
                float_rounding=settings.float_rounding,
                strict=settings.strict,
                timeout_seconds=None,
                raise_on_error=True,
            )
            for reference in references
        )
        return decided(is_equal)


def _parsed(parse: _Parse, text: str, *, is_reference: bool) -> list[object]:
    """Return what math-verify finds; of a text without LaTeX's signs also as LaTeX."""
    bare = text.strip()
    as_latex = f"${bare}$"
    is_bare = "$" not in bare and "\\boxed" not in bare and "\\(" not in bare and "\\[" not in bare
    if is_reference and is_bare and (parsed := parse(as_latex, parsing_timeout=None, fallback_mode="no_fallback")):
        return parsed
    if parsed := parse(text, parsing_timeout=None, fallback_mode="no_fallback"):
        return parsed
    words = {word.lower() for word in _WORD.findall(bare)} - _FUNCTIONS
    if is_bare and len(bare) <= MAX_BARE_CHARACTERS and _BARE.fullmatch(bare) and not words:
        return parse(as_latex, parsing_timeout=None, fallback_mode="no_fallback")
    return []


SCORERS: tuple[Scorer, ...] = (MathScorer(),)
