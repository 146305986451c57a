from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from benchmarks.statistics.clusters import Clusters, Flags, Floats, Indices
from benchmarks.statistics.headers import ErrorsCount

Kinds = NDArray[np.int8]


class Kind(IntEnum):
    """State of an item's score. WRONG: failed by the model, counted as 0; MISSING: failed by the infrastructure;
    NOT_ASKED: not yet, or left out, and never counted as 0."""

    SCORED = 0
    WRONG = 1
    MISSING = 2
    UNSCORED = 3
    NOT_ASKED = 4


@dataclass(frozen=True)
class Scores:
    """Scores of one metric, s[entrant, case, repeat].

    values: shape (entrants, cases, repeats), NaN where there is no score; kinds: the same shape, of Kind;
    weights: shape (cases,), above 0; cluster_codes: shape (cases,), equal within a cluster.
    """

    values: Floats
    kinds: Kinds
    weights: Floats
    cluster_codes: Indices

    @classmethod
    def from_items(
        cls, values: Floats, kinds: Kinds, weights: Floats, cluster_codes: Indices, *, errors_count: ErrorsCount
    ) -> Self:
        """Give failures their scores and leave out cases of weight 0. values: NaN where a check has none."""
        kept = weights > 0
        kinds = kinds[:, kept]
        values = np.where(kinds == Kind.WRONG, 0.0, values[:, kept])
        values[kinds == Kind.MISSING] = 0.0 if errors_count == "wrong" else np.nan
        kinds = np.where((kinds == Kind.SCORED) & np.isnan(values), Kind.UNSCORED, kinds).astype(np.int8)
        values[kinds == Kind.UNSCORED] = np.nan
        return cls(values, kinds, weights[kept], cluster_codes[kept])

    def of_cases(self, chosen: Flags) -> Self:
        return type(self)(
            self.values[:, chosen], self.kinds[:, chosen], self.weights[chosen], self.cluster_codes[chosen]
        )

    @property
    def entrants(self) -> int:
        return int(self.values.shape[0])

    @property
    def cases(self) -> int:
        return int(self.values.shape[1])

    @property
    def repeats(self) -> int:
        return int(self.values.shape[2])

    @cached_property
    def clusters(self) -> Clusters:
        return Clusters.from_codes(self.cluster_codes)

    @cached_property
    def is_present(self) -> Flags:
        return ~np.isnan(self.values)

    @cached_property
    def scored_repeats(self) -> Indices:
        """Number of scored repeats, shape (entrants, cases)."""
        repeats: Indices = self.is_present.sum(axis=2)
        return repeats

    @cached_property
    def case_means(self) -> Floats:
        """Means over repeats, shape (entrants, cases), NaN without a score."""
        if self.repeats == 1:
            means: Floats = self.values[:, :, 0]
            return means
        with np.errstate(invalid="ignore"):
            of_repeats: Floats = np.nansum(self.values, axis=2) / self.scored_repeats
            return of_repeats

    @cached_property
    def is_bounded(self) -> bool:
        """Return whether all scores are in [0, 1]."""
        present = self.values[self.is_present]
        return bool(((present >= 0) & (present <= 1)).all())

    @cached_property
    def is_binary(self) -> bool:
        present = self.values[self.is_present]
        return bool(((present == 0) | (present == 1)).all())

    def effective_items(self) -> Floats:
        """Return (Σw)² / Σ(w²/n) over cases with n scored repeats, shape (entrants,): all items for equal weights."""
        has_score = self.scored_repeats > 0
        squares = np.divide(self.weights**2, self.scored_repeats, out=np.zeros(has_score.shape), where=has_score)
        with np.errstate(invalid="ignore"):
            items: Floats = (has_score * self.weights).sum(axis=1) ** 2 / squares.sum(axis=1)
        return items

    def count(self, kind: Kind) -> Indices:
        """Number of items of a kind, shape (entrants,)."""
        counted: Indices = (self.kinds == kind).sum(axis=(1, 2))
        return counted
