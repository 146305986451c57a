"""Regular expressions and edit distances."""

from typing import Annotated

import msgspec
from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

from benchmarks.scoring.patterns import compile_pattern
from benchmarks.scoring.ports import (
    ScoredAnswer,
    Scorer,
    Settings,
    Target,
    Verdict,
    absent_target_error,
    decided,
    texts_of,
)
from benchmarks.scoring.refusals import Refusal


class RegexSettings(Settings, frozen=True):
    ignore_case: bool = False
    dot_all: bool = False
    whole: bool = False


class RegexScorer(Scorer):
    """Searches RE2 patterns: one that matches is enough."""

    name = "regex"
    settings = RegexSettings

    def target_error(self, target: Target) -> Refusal | str:
        try:
            for pattern in texts_of(target):
                compile_pattern(pattern)
        except Refusal as refusal:
            return refusal
        return absent_target_error(target)

    def score(self, answer: ScoredAnswer, target: Target, settings: msgspec.Struct) -> Verdict:
        assert isinstance(settings, RegexSettings)
        for source in texts_of(target):
            pattern = compile_pattern(source, settings.ignore_case, settings.dot_all)
            match = pattern.fullmatch(answer.text) if settings.whole else pattern.search(answer.text)
            if match is not None:
                return decided(True, detail=(match.group() or "")[:200])
        return decided(False)


class FuzzySettings(Settings, frozen=True):
    threshold: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.75
    ignore_case: bool = False


class FuzzyScorer(Scorer):
    """Rates the most similar text of the target."""

    name = "fuzzy"
    settings = FuzzySettings

    def target_error(self, target: Target) -> Refusal | str:
        return absent_target_error(target)

    def score(self, answer: ScoredAnswer, target: Target, settings: msgspec.Struct) -> Verdict:
        assert isinstance(settings, FuzzySettings)
        text = _folded(answer.text, settings.ignore_case)
        value = max(fuzz.ratio(text, _folded(reference, settings.ignore_case)) for reference in texts_of(target)) / 100
        return Verdict(value=value, passed=value >= settings.threshold)


class LevenshteinSettings(Settings, frozen=True):
    max_distance: Annotated[int, msgspec.Meta(ge=0)] = 5
    ignore_case: bool = False


class LevenshteinScorer(Scorer):
    """Passes at most `max_distance` inserted, deleted or replaced characters."""

    name = "levenshtein"
    settings = LevenshteinSettings

    def target_error(self, target: Target) -> Refusal | str:
        return absent_target_error(target)

    def score(self, answer: ScoredAnswer, target: Target, settings: msgspec.Struct) -> Verdict:
        assert isinstance(settings, LevenshteinSettings)
        text = _folded(answer.text, settings.ignore_case)
        distance = min(
            Levenshtein.distance(text, _folded(reference, settings.ignore_case)) for reference in texts_of(target)
        )
        return decided(distance <= settings.max_distance, detail=f"distance {distance}")


def _folded(text: str, ignore_case: bool) -> str:
    return text.strip().casefold() if ignore_case else text.strip()


SCORERS: tuple[Scorer, ...] = (RegexScorer(), FuzzyScorer(), LevenshteinScorer())
