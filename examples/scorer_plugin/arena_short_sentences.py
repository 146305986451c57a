"""A check for the arena: the share of sentences that are short enough to read aloud."""

import re

import msgspec

from benchmarks.scoring.ports import ScoredAnswer, Scorer, Settings, Target, Verdict


class ShortSentencesSettings(Settings, frozen=True):
    max_words: int = 20

    def __post_init__(self) -> None:
        if self.max_words < 1:
            raise ValueError("max_words is at least 1")


class ShortSentences(Scorer):
    name = "short_sentences"
    version = "1"
    port_version = 1
    settings = ShortSentencesSettings

    def score(self, answer: ScoredAnswer, target: Target, settings: msgspec.Struct) -> Verdict:
        assert isinstance(settings, ShortSentencesSettings)
        lengths = [len(sentence.split()) for sentence in re.split(r"[.!?]+", answer.text) if sentence.strip()]
        if not lengths:
            raise ValueError("the answer has no sentence")
        short = sum(length <= settings.max_words for length in lengths)
        return Verdict(value=short / len(lengths), passed=short == len(lengths), detail=f"longest: {max(lengths)}")
