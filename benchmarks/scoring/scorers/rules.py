"""Rules on the form of an answer: counts, words, language, case."""

from collections.abc import Callable
from typing import Annotated

import msgspec

from benchmarks.scoring import prose
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

# Short words that titles leave in lower case.
_SMALL_WORDS = frozenset({
    "a", "an", "and", "as", "at", "but", "by", "for", "from", "in", "into", "nor", "of", "on", "or", "the", "to",
    "with", "à", "au", "aux", "de", "des", "du", "en", "et", "la", "le", "les", "un", "une",
})  # fmt: skip
_QUOTES = (('"', '"'), ("“", "”"), ("«", "»"))
_Count = Annotated[int, msgspec.Meta(ge=0)]


class RangeSettings(Settings, frozen=True):
    """Limits of a count, at least one; the same number twice for an exact count."""

    min: _Count | None = None
    max: _Count | None = None

    def __post_init__(self) -> None:
        if self.min is None and self.max is None:
            raise Refusal("min_and_max_missing")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise Refusal("min_above_max")


class CountRule(Scorer):
    settings = RangeSettings

    def __init__(self, name: str, count: Callable[[str], int]) -> None:
        self.name = name
        self._count = count

    def count(self, text: str, settings: RangeSettings) -> int:
        return self._count(text)

    def score(self, answer: ScoredAnswer, target: Target, settings: msgspec.Struct) -> Verdict:
        assert isinstance(settings, RangeSettings)
        count = self.count(answer.text, settings)
        is_enough = settings.min is None or count >= settings.min
        return decided(is_enough and (settings.max is None or count <= settings.max), str(count))


class WordCountSettings(RangeSettings, frozen=True):
    """by_spaces: count the parts between spaces, so that “don’t” is one word."""

    by_spaces: bool = False


class WordCount(CountRule):
    settings = WordCountSettings

    def count(self, text: str, settings: RangeSettings) -> int:
        assert isinstance(settings, WordCountSettings)
        return len(text.split()) if settings.by_spaces else super().count(text, settings)


class LanguageSettings(Settings, frozen=True):
    language: Annotated[str, msgspec.Meta(pattern="^[a-z]{2}$")]


class LanguageRule(Scorer):
    name = "language"
    settings = LanguageSettings

    def score(self, answer: ScoredAnswer, target: Target, settings: msgspec.Struct) -> Verdict:
        assert isinstance(settings, LanguageSettings)
        language = prose.language_of(answer.text)
        return (
            decided(language == settings.language, label=language) if language else not_extracted("too short to tell")
        )


class WordsSettings(Settings, frozen=True):
    match_case: bool = False


class WordsRule(Scorer):
    """Counts which of the target's words or phrases stand in the answer as whole words."""

    settings = WordsSettings

    def __init__(self, name: str, *, wanted: bool) -> None:
        self.name = name
        self._wanted = wanted

    def target_error(self, target: Target) -> Refusal | str:
        return absent_target_error(target)

    def score(self, answer: ScoredAnswer, target: Target, settings: msgspec.Struct) -> Verdict:
        assert isinstance(settings, WordsSettings)
        text = _spaced(answer.text, settings.match_case)
        listed = texts_of(target)
        wrong = [word for word in listed if (_spaced(word, settings.match_case) in text) != self._wanted]
        return Verdict(value=1 - len(wrong) / len(listed), passed=not wrong, detail=", ".join(wrong))


def _spaced(text: str, match_case: bool) -> str:
    return f" {' '.join(prose.words(text if match_case else text.casefold()))} "


class FormRule(Scorer):
    def __init__(self, name: str, is_kept: Callable[[str], bool]) -> None:
        self.name = name
        self._is_kept = is_kept

    def score(self, answer: ScoredAnswer, target: Target, settings: msgspec.Struct) -> Verdict:
        return decided(self._is_kept(answer.text.strip()))


def _is_quoted(text: str) -> bool:
    return any(len(text) > 1 and text[0] == opening and text[-1] == closing for opening, closing in _QUOTES)


def _is_title_case(text: str) -> bool:
    words = [word for word in text.split() if word[:1].isalpha()]
    return bool(words) and all(
        word[0].isupper() or not word[0].islower() or (number > 0 and word in _SMALL_WORDS)
        for number, word in enumerate(words)
    )


SCORERS: tuple[Scorer, ...] = (
    WordCount("words", lambda text: len(prose.words(text))),
    CountRule("characters", len),
    CountRule("sentences", lambda text: len(prose.sentences(text))),
    CountRule("bullets", prose.bullets),
    CountRule("paragraphs", lambda text: len(prose.paragraphs(text))),
    LanguageRule(),
    WordsRule("all_words", wanted=True),
    WordsRule("no_words", wanted=False),
    FormRule("quoted", _is_quoted),
    FormRule("title_case", _is_title_case),
    FormRule("upper_case", str.isupper),
    FormRule("lower_case", str.islower),
)
