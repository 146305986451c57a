"""Rubrics of judges; each raises ValueError for bad values."""

import hashlib
from enum import StrEnum

import msgspec

MIN_POINTS, MAX_POINTS, MAX_CRITERIA, MAX_NAME = 2, 10, 10, 80
# Sums of weights outside would not be exact, or not finite.
MIN_WEIGHT, MAX_WEIGHT = 0.01, 1_000


class Kind(StrEnum):
    PAIRWISE = "pairwise"
    SCORES = "scores"


class Criterion(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    name: str
    question: str = ""
    # Scores are whole numbers from 1 to points.
    points: int = 5
    # What the scores 1, 2, … mean; empty, or one for each.
    anchors: list[str] = []
    weight: float = 1

    def __post_init__(self) -> None:
        if not self.name.strip() or self.name != self.name.strip() or len(self.name) > MAX_NAME:
            raise ValueError("bad name of a criterion")
        if not MIN_POINTS <= self.points <= MAX_POINTS:
            raise ValueError("bad number of points")
        if self.anchors and len(self.anchors) != self.points:
            raise ValueError("not one anchor for each point")
        if not MIN_WEIGHT <= self.weight <= MAX_WEIGHT:
            raise ValueError("bad weight")


class Rubric(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    kind: Kind
    instructions: str = ""
    # Weighed by the judge in comparisons; each gets a score of its own otherwise.
    criteria: list[Criterion] = []
    uses_reference: bool = False

    def __post_init__(self) -> None:
        names = [criterion.name for criterion in self.criteria]
        if len(set(names)) < len(names) or len(names) > MAX_CRITERIA:
            raise ValueError("too many criteria, or two of one name")
        if self.kind == Kind.SCORES and not names:
            raise ValueError("scores without criteria")

    def digest(self) -> str:
        """Return SHA-256, hexadecimal."""
        # Whole weights are written as they are after reading.
        read = msgspec.convert(msgspec.to_builtins(self), Rubric)
        return hashlib.sha256(msgspec.json.encode(read, order="deterministic")).hexdigest()
