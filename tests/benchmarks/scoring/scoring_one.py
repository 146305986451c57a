"""One check on one answer, all in this process."""

from typing import Any, NoReturn

import msgspec

from benchmarks.scoring.check import Check
from benchmarks.scoring.evaluation import evaluate
from benchmarks.scoring.ports import ScoredAnswer, Verdict
from benchmarks.scoring.refusals import Refusal
from benchmarks.scoring.registry import Registry


def _no_plugin(name: str) -> NoReturn:
    raise Refusal("scorer_unknown", field="scorer", name=repr(name))


registry = Registry(_no_plugin)


def score(
    scorer: str,
    answer: str | ScoredAnswer,
    target: list[Any] | None = None,
    settings: dict[str, Any] | None = None,
    **check: Any,
) -> Verdict:
    if isinstance(answer, str):
        answer = ScoredAnswer(text=answer)
    converted = msgspec.convert({"scorer": scorer, "settings": settings or {}, **check}, Check)
    return evaluate(registry.prepare(converted), answer, target or [])
