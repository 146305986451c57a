"""All checks of one item: here or in a child, expressions last."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from benchmarks.scoring.check import Check, Prepared
from benchmarks.scoring.evaluation import evaluate
from benchmarks.scoring.ports import ScoredAnswer, Target, Verdict, texts_of

# Longer texts are scored in the child: one must not hold up a worker's loop.
MAX_INLINE_CHARACTERS = 20_000


class Child(Protocol):
    def score(self, check: Check, answer: ScoredAnswer, target: Target) -> Verdict: ...


def needs_child(checks: Sequence[Prepared], targets: Sequence[Target], answer: ScoredAnswer) -> bool:
    """Return whether `score_item` may wait for a child, so that an event loop must call it in a thread."""
    return any(
        prepared.needs_child or _is_long(prepared, answer, target)
        for prepared, target in zip(checks, targets, strict=True)
    )


def score_item(
    checks: Sequence[Prepared], targets: Sequence[Target], answer: ScoredAnswer, child: Child
) -> list[Verdict]:
    """Return a verdict for each check in their order; targets[i] is that of checks[i] unless it has its own."""
    verdicts: dict[int, Verdict] = {}
    with_scores = [number for number, prepared in enumerate(checks) if _uses_scores(prepared)]
    without_scores = [number for number in range(len(checks)) if number not in with_scores]
    for number in without_scores:
        verdicts[number] = _verdict(checks[number], targets[number], answer, child)
    for number in with_scores:
        seen = msgspec.structs.replace(answer, scores=_values(checks, verdicts))
        verdicts[number] = _verdict(checks[number], targets[number], seen, child)
    return [verdicts[number] for number in range(len(checks))]


def _verdict(prepared: Prepared, target: Target, answer: ScoredAnswer, child: Child) -> Verdict:
    if prepared.needs_child or _is_long(prepared, answer, target):
        return child.score(prepared.check, answer, target)
    return evaluate(prepared, answer, target)


def _is_long(prepared: Prepared, answer: ScoredAnswer, target: Target) -> bool:
    if len(answer.text) > MAX_INLINE_CHARACTERS:
        return True
    own = prepared.check.target
    return sum(map(len, texts_of(target if own is None else own))) > MAX_INLINE_CHARACTERS


def _uses_scores(prepared: Prepared) -> bool:
    return prepared.check.scorer == "expression" or any(map(_uses_scores, prepared.nested))


def _values(checks: Sequence[Prepared], verdicts: dict[int, Verdict]) -> dict[str, float]:
    """Return values by key; a check without a value is absent, so that an expression over it has no value either."""
    return {
        checks[number].check.key: verdict.value
        for number, verdict in verdicts.items()
        if checks[number].check.key and verdict.value is not None
    }
