"""Texts equal, contained, at the start or at the end."""

import re
import unicodedata
from collections.abc import Callable
from functools import partial

import msgspec

from benchmarks.scoring.patterns import compile_pattern
from benchmarks.scoring.ports import (
    ScoredAnswer,
    Scorer,
    Settings,
    Target,
    Verdict,
    absent_target_error,
    decided,
    empty_target_error,
    texts_of,
)
from benchmarks.scoring.refusals import Refusal

_DIGITS = compile_pattern(r"\d+")
_ARTICLES = re.compile(r"\b(?:an?|the)\b", re.IGNORECASE)


class TextSettings(Settings, frozen=True):
    """Texts are compared in NFC with one kind of line end, without outer space; settings leave out more of both."""

    ignore_case: bool = False
    ignore_punctuation: bool = False
    ignore_numbers: bool = False
    # English ones; what is left are words between single spaces.
    ignore_articles: bool = False
    # RE2; what they match is removed first, as lm-evaluation-harness does.
    ignore_patterns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for pattern in self.ignore_patterns:
            compile_pattern(pattern)

    def normalize(self, text: str, ignore_case: bool) -> str:
        text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
        for pattern in self.ignore_patterns:
            text = compile_pattern(pattern).sub("", text)
        text = unicodedata.normalize("NFC", text)
        if ignore_case or self.ignore_case:
            text = unicodedata.normalize("NFC", text.casefold())
        if self.ignore_punctuation:
            text = "".join(sign for sign in text if unicodedata.category(sign)[0] not in "PS")
        if self.ignore_numbers:
            text = _DIGITS.sub("", text)
        if self.ignore_articles:
            text = " ".join(_ARTICLES.sub(" ", text).split())
        return text.strip()


class AllTextSettings(TextSettings, frozen=True):
    """partial: the value is the share of the texts; else all or nothing."""

    partial: bool = True


class TextScorer(Scorer):
    """Compares with each text of the target: any of them is enough, or all count."""

    version = "2"
    settings = TextSettings

    def __init__(
        self, name: str, matches: Callable[[str, str], bool], *, ignore_case: bool = False, all_count: bool = False
    ) -> None:
        self.name = name
        self._matches, self._ignore_case, self._all_count = matches, ignore_case, all_count
        if all_count:
            self.settings = AllTextSettings

    def target_error(self, target: Target) -> Refusal | str:
        return empty_target_error(target) if self.name.endswith("equals") else absent_target_error(target)

    def score(self, answer: ScoredAnswer, target: Target, settings: msgspec.Struct) -> Verdict:
        assert isinstance(settings, TextSettings)
        text = settings.normalize(answer.text, self._ignore_case)
        wanted = [settings.normalize(reference, self._ignore_case) for reference in texts_of(target)]
        if "" in wanted and not self.name.endswith(("equals", "either_contains")):
            raise ValueError("nothing of the target is left to compare")
        if not self._all_count:
            return decided(any(self._matches(text, reference) for reference in wanted))
        missing = [reference for reference in wanted if not self._matches(text, reference)]
        detail = f"missing: {', '.join(missing)}" if missing else ""
        if isinstance(settings, AllTextSettings) and not settings.partial:
            return decided(not missing, detail)
        return Verdict(value=1 - len(missing) / len(wanted), passed=not missing, detail=detail)


def _contains(text: str, reference: str) -> bool:
    return reference in text


def _either_contains(text: str, reference: str) -> bool:
    if text == "" or reference == "":
        return text == reference
    return reference in text or text in reference


def _equals(text: str, reference: str) -> bool:
    return text == reference


_all = partial(TextScorer, all_count=True)
SCORERS: tuple[Scorer, ...] = (
    TextScorer("equals", _equals),
    TextScorer("iequals", _equals, ignore_case=True),
    TextScorer("contains", _contains),
    TextScorer("icontains", _contains, ignore_case=True),
    TextScorer("contains_any", _contains),
    TextScorer("icontains_any", _contains, ignore_case=True),
    _all("contains_all", _contains),
    _all("icontains_all", _contains, ignore_case=True),
    TextScorer("either_contains", _either_contains),
    TextScorer("starts_with", str.startswith),
    TextScorer("ends_with", str.endswith),
)
