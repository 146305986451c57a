"""Limits of time, money and length, and the reason for the end."""

from collections.abc import Callable
from typing import Annotated, Literal

import msgspec

from benchmarks.scoring.ports import ScoredAnswer, Scorer, Settings, Target, Verdict, decided

_Positive = Annotated[float, msgspec.Meta(gt=0, le=1e12)]


class MillisecondsSettings(Settings, frozen=True):
    max_ms: _Positive


class CostSettings(Settings, frozen=True):
    max_dollars: Annotated[float, msgspec.Meta(ge=0, le=1e6)]


class TokensSettings(Settings, frozen=True):
    max_tokens: Annotated[int, msgspec.Meta(ge=0)]
    count: Literal["answer", "prompt", "both"] = "answer"


class LimitScorer(Scorer):
    """Compares a measured figure with a limit; a figure that was not measured has no value."""

    def __init__(
        self,
        name: str,
        settings: type[Settings],
        measured: Callable[[ScoredAnswer, msgspec.Struct], float | None],
        limit: Callable[[msgspec.Struct], float],
        *,
        of_this_call: bool = True,
    ) -> None:
        self.name, self.settings = name, settings
        self._measured, self._limit, self._of_this_call = measured, limit, of_this_call

    def score(self, answer: ScoredAnswer, target: Target, settings: msgspec.Struct) -> Verdict:
        if answer.is_reused and self._of_this_call:
            return Verdict(error="not_measured", detail="a reused answer has another day's figures")
        figure = self._measured(answer, settings)
        if figure is None:
            return Verdict(error="not_measured")
        return decided(figure <= self._limit(settings), f"{figure:g}")


def _tokens(answer: ScoredAnswer, settings: msgspec.Struct) -> float | None:
    assert isinstance(settings, TokensSettings)
    counts = {
        "answer": (answer.tokens_out,),
        "prompt": (answer.tokens_in,),
        "both": (answer.tokens_in, answer.tokens_out),
    }[settings.count]
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def _max_ms(settings: msgspec.Struct) -> float:
    assert isinstance(settings, MillisecondsSettings)
    return settings.max_ms


def _max_dollars(settings: msgspec.Struct) -> float:
    assert isinstance(settings, CostSettings)
    return settings.max_dollars


def _max_tokens(settings: msgspec.Struct) -> float:
    assert isinstance(settings, TokensSettings)
    return settings.max_tokens


class FinishSettings(Settings, frozen=True):
    """reasons: letter case does not count."""

    reasons: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)] = ("stop",)


class FinishReason(Scorer):
    name = "finish_reason"
    version = "2"
    settings = FinishSettings

    def score(self, answer: ScoredAnswer, target: Target, settings: msgspec.Struct) -> Verdict:
        assert isinstance(settings, FinishSettings)
        if not answer.finish_reason:
            return Verdict(error="not_measured")
        wanted = {reason.casefold() for reason in settings.reasons}
        return decided(answer.finish_reason.casefold() in wanted, answer.finish_reason)


SCORERS: tuple[Scorer, ...] = (
    LimitScorer("latency", MillisecondsSettings, lambda answer, _: answer.total_ms, _max_ms),
    LimitScorer("first_token", MillisecondsSettings, lambda answer, _: answer.first_token_ms, _max_ms),
    LimitScorer("cost", CostSettings, lambda answer, _: answer.cost, _max_dollars),
    LimitScorer("tokens", TokensSettings, _tokens, _max_tokens, of_this_call=False),
    FinishReason(),
)
