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
from benchmarks.scoring.scorers.text import TextSettings

_PLAIN = TextSettings()


class RegexSettings(Settings, frozen=True):
    ignore_case: bool = False
    dot_all: bool = False
    whole: bool = False


class RegexScorer(Scorer):
    """Searches RE2 patterns: one that matches is enough."""

    name = "regex"
    version = "2"
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
        text = _PLAIN.normalize(answer.text, ignore_case=False)
        for source in texts_of(target):
            pattern = compile_pattern(source, settings.ignore_case, settings.dot_all)
            match = pattern.fullmatch(text) if settings.whole else pattern.search(text)
            if match is not None:
                return decided(True, detail=(match.group() or "")[:200])
        return decided(False)


class FuzzySettings(Settings, frozen=True):
    threshold: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.75
    ignore_case: bool = False


class FuzzyScorer(Scorer):
    """Rates the most similar text of the target."""

    name = "fuzzy"
    version = "2"
    settings = FuzzySettings

    def target_error(self, target: Target) -> Refusal | str:
        return absent_target_error(target)

    def score(self, answer: ScoredAnswer, target: Target, settings: msgspec.Struct) -> Verdict:
        assert isinstance(settings, FuzzySettings)
        text, *references = _normalized(settings.ignore_case, answer, target)
        value = max(fuzz.ratio(text, reference) for reference in references) / 100
        return Verdict(value=value, passed=value >= settings.threshold)


class LevenshteinSettings(Settings, frozen=True):
    max_distance: Annotated[int, msgspec.Meta(ge=0)] = 5
    ignore_case: bool = False


class LevenshteinScorer(Scorer):
    """Passes at most `max_distance` inserted, deleted or replaced characters."""

    name = "levenshtein"
    version = "2"
    settings = LevenshteinSettings

    def target_error(self, target: Target) -> Refusal | str:
        return absent_target_error(target)

    def score(self, answer: ScoredAnswer, target: Target, settings: msgspec.Struct) -> Verdict:
        assert isinstance(settings, LevenshteinSettings)
        text, *references = _normalized(settings.ignore_case, answer, target)
        distance = min(Levenshtein.distance(text, reference) for reference in references)
        return decided(distance <= settings.max_distance, detail=f"distance {distance}")


def _normalized(ignore_case: bool, answer: ScoredAnswer, target: Target) -> list[str]:
    """Return the answer's text, then those of the target."""
    return [_PLAIN.normalize(text, ignore_case) for text in (answer.text, *texts_of(target))]


SCORERS: tuple[Scorer, ...] = (RegexScorer(), FuzzyScorer(), LevenshteinScorer())
