"""One check on one answer: extraction, scorer, threshold, negation."""

import math

import msgspec

from benchmarks.scoring.check import Group, Prepared
from benchmarks.scoring.extraction import extract
from benchmarks.scoring.ports import (
    MAX_DETAIL_BYTES,
    MAX_LABEL_CHARACTERS,
    NOT_EXTRACTED,
    ScoredAnswer,
    Target,
    Verdict,
    not_extracted,
)

# sacrebleu gives 100.00000000000004 for equal texts.
ROUNDING = 1e-9


def evaluate(prepared: Prepared, answer: ScoredAnswer, target: Target) -> Verdict:
    """Return a verdict; an exception of the scorer leaves the answer unscored."""
    try:
        return _evaluate(prepared, answer, target)
    except Exception as error:
        return failed(f"{type(error).__name__}: {error}")


def failed(detail: str) -> Verdict:
    return Verdict(error="scorer_failed", detail=_shortened(detail))


def _evaluate(prepared: Prepared, answer: ScoredAnswer, target: Target) -> Verdict:
    check, settings = prepared.check, prepared.settings
    if check.target is not None:
        target = check.target
    if check.extract:
        part = extract(answer.text, check.extract)
        if part is None:
            return not_extracted()
        answer = msgspec.structs.replace(answer, text=part)
    if settings is None:
        raise RuntimeError("the settings of this check are read in the child only")
    if isinstance(prepared.scorer, Group):
        verdict = _evaluate_group(prepared, prepared.scorer, answer, target, settings)
    else:
        assert prepared.scorer is not None
        if error := prepared.scorer.target_error(target):
            return failed(str(error))
        verdict = prepared.scorer.score(answer, target, settings)
    if verdict.error or verdict.label == NOT_EXTRACTED:
        return _trimmed(verdict)
    value = verdict.value
    if value is None or not math.isfinite(value) or not -ROUNDING <= value <= 1 + ROUNDING:
        return failed(f"the value {value} is not from 0 to 1")
    value = min(1.0, max(0.0, value))
    passed = verdict.passed if check.threshold is None else value >= check.threshold
    if check.negate:
        value, passed = 1 - value, None if passed is None else not passed
    return _trimmed(msgspec.structs.replace(verdict, value=value, passed=passed))


def _evaluate_group(
    prepared: Prepared, group: Group, answer: ScoredAnswer, target: Target, settings: msgspec.Struct
) -> Verdict:
    seen = group.narrow(answer, settings)
    if seen is None:
        return not_extracted()
    verdicts = [evaluate(nested, seen, target) for nested in prepared.nested]
    return group.combine(tuple(nested.check for nested in prepared.nested), verdicts, settings)


def _trimmed(verdict: Verdict) -> Verdict:
    if not verdict.detail and not verdict.label:
        return verdict
    return msgspec.structs.replace(
        verdict, detail=_shortened(verdict.detail), label=_shortened(verdict.label)[:MAX_LABEL_CHARACTERS]
    )


def _shortened(detail: str) -> str:
    """Return at most MAX_DETAIL_BYTES of UTF-8, without NUL and lone surrogates, which PostgreSQL refuses."""
    encoded = detail.replace("\0", "").encode(errors="replace")
    return encoded.decode() if len(encoded) <= MAX_DETAIL_BYTES else encoded[:MAX_DETAIL_BYTES].decode(errors="ignore")
