"""Scores of stored answers: the one place where runs and scorers meet."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from benchmarks.models import Check, TemplateVersion
from common.payload_types import JsonObject

NOT_SCORED = "scorer_unknown"


@dataclass(frozen=True)
class ItemScore:
    """Scores of one answer, and their weighted mean in [0, 1]; None with an unscored check or without checks."""

    value: float | None = None
    passed: bool | None = None
    # Rows of Score.
    checks: list[JsonObject] = field(default_factory=list)


@dataclass(frozen=True)
class CheckSet:
    """The checks of a version, read once per run and process."""

    checks: Sequence[Check] = ()
    digest: str = ""

    @classmethod
    def of(cls, version: TemplateVersion) -> "CheckSet":
        checks = list(version.checks.all())
        facts = [(check.key, check.scorer, check.settings, check.weight, check.negate) for check in checks]
        return cls(checks, hashlib.sha256(msgspec.json.encode(facts)).hexdigest())

    def score(self, text: str, expected: object) -> ItemScore:
        """Score an answer; pure, so that it can run again."""
        if not self.checks:
            return ItemScore()
        rows = [self._row(check, text, expected) for check in self.checks]
        values = [row["value"] for row in rows]
        weights = [check.weight for check in self.checks]
        if None in values or not sum(weights):
            return ItemScore(None, None, rows)
        mean = sum(weight * value for weight, value in zip(weights, values, strict=True)) / sum(weights)
        return ItemScore(mean, all(row["passed"] for row in rows), rows)

    def _row(self, check: Check, text: str, expected: object) -> JsonObject:
        row = {"check_key": check.key, "detail": {}, "version": self.digest}
        if check.scorer != "contains":
            return row | {"value": None, "passed": None, "error": NOT_SCORED}
        wanted = expected if isinstance(expected, list) else [expected]
        found = any(str(target) in text for target in wanted)
        passed = found is not check.negate
        return row | {"value": float(passed), "passed": passed, "error": ""}
