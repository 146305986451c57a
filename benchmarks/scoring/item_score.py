"""The score of an item from the verdicts of its checks."""

from collections.abc import Sequence

import msgspec

from benchmarks.scoring.check import Check
from benchmarks.scoring.ports import Verdict


class ItemScore(msgspec.Struct, kw_only=True):
    """score: weighted mean of the checks with a value. None, also of `passed` and metrics: not known, never 0.

    unscored: keys of checks that failed themselves.
    """

    score: float | None = None
    passed: bool | None = None
    metrics: dict[str, float | None] = {}
    unscored: tuple[str, ...] = ()


def item_score(checks: Sequence[Check], verdicts: Sequence[Verdict], threshold: float | None = None) -> ItemScore:
    """Combine verdicts; verdicts[i] is that of checks[i].

    An item passes if each gate passed and its score reaches the threshold, or without one if all checks passed.
    A check that was not measured is left out. A failed check leaves the item without a score, unless it has neither
    weight nor is a gate.
    """
    pairs = list(zip(checks, verdicts, strict=True))
    counted = [(check, verdict) for check, verdict in pairs if check.weight > 0 or check.is_gate]
    result = ItemScore(
        metrics=_metrics(pairs), unscored=tuple(check.key for check, verdict in pairs if _is_unscored(verdict))
    )
    if any(_is_unscored(verdict) for _, verdict in counted):
        return result
    result.score = _weighted_mean(counted)
    result.passed = _passed(counted, result.score, threshold)
    return result


def _passed(counted: list[tuple[Check, Verdict]], score: float | None, threshold: float | None) -> bool | None:
    gates = [verdict.passed is True for check, verdict in counted if check.is_gate and not verdict.error]
    if not all(gates):
        return False
    if threshold is not None:
        return None if score is None else score >= threshold
    decided = [verdict.passed for _, verdict in counted if verdict.passed is not None]
    return all(decided) if decided else None


def _metrics(pairs: list[tuple[Check, Verdict]]) -> dict[str, float | None]:
    """Return each metric's weighted mean; plain if its checks have no weight, None if one of them failed."""
    metrics: dict[str, float | None] = {}
    for name in dict.fromkeys(check.metric for check, _ in pairs if check.metric):
        own = [(check, verdict) for check, verdict in pairs if check.metric == name]
        if any(_is_unscored(verdict) for _, verdict in own):
            metrics[name] = None
        elif any(check.weight for check, _ in own):
            metrics[name] = _weighted_mean(own)
        else:
            values = [verdict.value for _, verdict in own if verdict.value is not None]
            metrics[name] = sum(values) / len(values) if values else None
    return metrics


def _weighted_mean(pairs: list[tuple[Check, Verdict]]) -> float | None:
    scored = [(check.weight, verdict.value) for check, verdict in pairs if verdict.value is not None]
    weight = sum(share for share, _ in scored)
    return min(1.0, sum(share * value for share, value in scored) / weight) if weight else None


def _is_unscored(verdict: Verdict) -> bool:
    return verdict.error not in ("", "not_measured")
