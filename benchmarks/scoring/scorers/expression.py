"""A person's own condition in the Common Expression Language."""

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated

import msgspec

from benchmarks.scoring.ports import ScoredAnswer, Scorer, Settings, Target, Verdict, decided
from benchmarks.scoring.refusals import Refusal

if TYPE_CHECKING:
    from cel import Program

_PLACE = re.compile(r"<input>:(\d+):(\d+): (.*)")


class ExpressionSettings(Settings, frozen=True):
    expression: Annotated[str, msgspec.Meta(min_length=1, max_length=4000)]

    def __post_init__(self) -> None:
        _compiled(self.expression)


class ExpressionScorer(Scorer):
    """Evaluates over `text`, `answer`, `variables`, `metadata`, `target` and `scores` of the item's other checks."""

    name = "expression"
    settings = ExpressionSettings
    # CEL has no limit of steps, and a long chain of operators ends its process, also when it is compiled.
    needs_child = True

    def load(self) -> None:
        import cel  # noqa: F401

    def score(self, answer: ScoredAnswer, target: Target, settings: msgspec.Struct) -> Verdict:
        assert isinstance(settings, ExpressionSettings)
        result = _compiled(settings.expression).execute(
            {
                "text": answer.text,
                "answer": msgspec.to_builtins(answer),
                "variables": answer.variables,
                "metadata": answer.metadata,
                "target": target,
                "scores": answer.scores,
            }
        )
        if isinstance(result, bool):
            return decided(result)
        if isinstance(result, int | float) and 0 <= result <= 1:
            return Verdict(value=float(result))
        raise ValueError(f"the expression gave {str(result)[:100]}, not true, false or a number from 0 to 1")


@lru_cache(maxsize=256)
def _compiled(expression: str) -> "Program":
    import cel

    try:
        return cel.compile(expression)
    except ValueError as error:
        place = _PLACE.search(str(error))
        if place is None:
            raise Refusal("expression_unusable", reason=str(error)[-300:]) from None
        raise Refusal("expression_error", line=place[1], column=place[2], reason=place[3][:300]) from None


SCORERS: tuple[Scorer, ...] = (ExpressionScorer(),)
