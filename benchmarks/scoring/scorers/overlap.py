"""Overlap with reference texts: BLEU, chrF and TER of sacrebleu, and ROUGE-L.

Each verdict's detail has the metric's own score and sacrebleu's signature, which repeats it elsewhere.
"""

import re
from collections.abc import Callable
from typing import Annotated, Literal, Protocol

import msgspec
from rapidfuzz.distance import LCSseq

from benchmarks.scoring.ports import ScoredAnswer, Scorer, Settings, Target, Verdict, absent_target_error, texts_of
from benchmarks.scoring.refusals import Refusal


class _Score(Protocol):
    score: float


class _Metric(Protocol):
    def sentence_score(self, hypothesis: str, references: list[str]) -> _Score: ...
    def get_signature(self) -> object: ...


class BleuSettings(Settings, frozen=True):
    """tokenize: sacrebleu's tokenizers that need no download. smoothing: none gives 0 if an order has no match."""

    tokenize: Literal["13a", "intl", "zh", "char", "none"] = "13a"
    lowercase: bool = False
    smoothing: Literal["exp", "none"] = "exp"


class ChrfSettings(Settings, frozen=True):
    """word_order: 2 for chrF++."""

    word_order: Annotated[int, msgspec.Meta(ge=0, le=4)] = 0
    lowercase: bool = False


class TerSettings(Settings, frozen=True):
    normalized: bool = False
    no_punct: bool = False
    case_sensitive: bool = False


def _bleu(settings: msgspec.Struct) -> _Metric:
    from sacrebleu.metrics.bleu import BLEU

    assert isinstance(settings, BleuSettings)
    # Effective order, as sacrebleu advises for one sentence: a text of two words has no 4-grams.
    metric: _Metric = BLEU(
        tokenize=settings.tokenize,
        lowercase=settings.lowercase,
        smooth_method=settings.smoothing,
        effective_order=True,
    )
    return metric


def _chrf(settings: msgspec.Struct) -> _Metric:
    from sacrebleu.metrics.chrf import CHRF

    assert isinstance(settings, ChrfSettings)
    metric: _Metric = CHRF(word_order=settings.word_order, lowercase=settings.lowercase)
    return metric


def _ter(settings: msgspec.Struct) -> _Metric:
    from sacrebleu.metrics.ter import TER

    assert isinstance(settings, TerSettings)
    metric: _Metric = TER(
        normalized=settings.normalized, no_punct=settings.no_punct, case_sensitive=settings.case_sensitive
    )
    return metric


class SacrebleuScorer(Scorer):
    """Rates one answer against all references at once; without `threshold` it neither passes nor fails."""

    needs_child = True

    def __init__(
        self,
        name: str,
        settings: type[Settings],
        metric: Callable[[msgspec.Struct], _Metric],
        value: Callable[[float], float],
    ) -> None:
        self.name, self.settings = name, settings
        self._metric, self._value = metric, value

    def load(self) -> None:
        import sacrebleu.metrics  # noqa: F401

    def target_error(self, target: Target) -> Refusal | str:
        return absent_target_error(target)

    def score(self, answer: ScoredAnswer, target: Target, settings: msgspec.Struct) -> Verdict:
        metric = self._metric(settings)
        score = metric.sentence_score(answer.text, texts_of(target)).score
        return Verdict(value=self._value(score), detail=f"{score:.4f} {metric.get_signature()}")


class RougeSettings(Settings, frozen=True):
    measure: Literal["f", "recall", "precision"] = "f"


class RougeL(Scorer):
    """Rates the longest common subsequence of words with the closest reference.

    Source: C.-Y. Lin, "ROUGE: A Package for Automatic Evaluation of Summaries", 2004, with β = 1.
    """

    name = "rouge_l"
    settings = RougeSettings
    needs_child = True

    def target_error(self, target: Target) -> Refusal | str:
        return absent_target_error(target)

    def score(self, answer: ScoredAnswer, target: Target, settings: msgspec.Struct) -> Verdict:
        assert isinstance(settings, RougeSettings)
        given = _words(answer.text)
        return Verdict(value=max(_rouge_l(given, _words(text), settings.measure) for text in texts_of(target)))


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _rouge_l(given: list[str], reference: list[str], measure: str) -> float:
    if not given or not reference:
        return 0.0
    common = LCSseq.similarity(given, reference)
    precision, recall = common / len(given), common / len(reference)
    if measure != "f":
        return recall if measure == "recall" else precision
    return 2 * precision * recall / (precision + recall) if common else 0.0


SCORERS: tuple[Scorer, ...] = (
    SacrebleuScorer("bleu", BleuSettings, _bleu, lambda score: score / 100),
    SacrebleuScorer("chrf", ChrfSettings, _chrf, lambda score: score / 100),
    # TER counts errors per reference word, and may exceed 100.
    SacrebleuScorer("ter", TerSettings, _ter, lambda score: max(0.0, 1 - score / 100)),
    RougeL(),
)
