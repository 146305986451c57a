"""Means of cases whose errors are correlated within clusters."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]

# Relative to the largest value: below it, a standard error is rounding.
_ROUNDING = 1e-12
# Relative to the largest of its terms: below it, the sum of a variance's squares is rounding.
_CANCELLED = 1e-12


@dataclass(frozen=True)
class Clusters:
    """Cases grouped by cluster. order: cases sorted by cluster; starts: first place of each cluster in it."""

    order: Indices
    starts: Indices

    @classmethod
    def from_codes(cls, codes: Indices) -> Self:
        """codes: one integer a case, equal within a cluster."""
        order = np.argsort(codes, kind="stable")
        ordered = codes[order]
        return cls(order, np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]][: len(codes)]))

    @property
    def are_cases(self) -> bool:
        return len(self.starts) == len(self.order)

    def sums(self, values: Floats) -> Floats:
        """Sum shape (..., cases) to shape (..., clusters)."""
        if self.are_cases:
            return values
        summed: Floats = np.add.reduceat(values[..., self.order], self.starts, axis=-1)
        return summed


@dataclass(frozen=True)
class ClusteredMeans:
    """Weighted means with clustered standard errors, each of shape (means,)."""

    mean: Floats
    se: Floats  # NaN with one cluster
    df: Floats  # of se: clusters − 1 if all weigh the same
    clusters: Indices
    effective: Floats  # Kish's number of clusters
    influence: Floats  # shape (means, clusters), sums to 0; its squares sum to about se²


def clustered_means(values: Floats, weights: Floats, clusters: Clusters) -> ClusteredMeans:
    """Return the weighted mean of each row. values: shape (means, cases), NaN where absent; weights: (cases,)."""
    # se² = G/(G−1) · Σ_g(Σ_{c∈g} w_c(s_c − μ))² / (Σw)². Sources: Liang, Zeger (1986); Miller (2024).
    present = ~np.isnan(values)
    weight = np.where(present, weights, 0.0)
    total = weight.sum(axis=1)
    filled = np.where(present, values, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = (weight * filled).sum(axis=1) / total
        shares = clusters.sums(weight) / total[:, None]
        influence = clusters.sums(weight * (filled - mean[:, None])) / total[:, None]
        number = (shares > 0).sum(axis=1)
        se = np.sqrt(number / (number - 1.0) * (influence**2).sum(axis=1))
    se[number < 2] = np.nan
    se[se <= _ROUNDING * np.abs(filled).max(axis=1, initial=0)] = 0.0
    df, effective = _degrees_of_freedom(shares, number)
    return ClusteredMeans(mean, se, df, number, effective, influence)


def _degrees_of_freedom(shares: Floats, number: Indices) -> tuple[Floats, Floats]:
    """Return degrees of freedom, 0 with one cluster, and 1 / Σ shares². shares: shape (means, clusters), sum 1."""
    # Satterthwaite's, for cluster means of equal variance. Source: Bell, McCaffrey (2002), with an intercept only.
    # tr(V) and tr(V²) of V = A(I − 1aᵀ)(I − a1ᵀ)A, with A = diag(a), in the power sums of a.
    squared = shares * shares
    second, third, fourth = squared.sum(axis=1), np.vecdot(squared, shares), np.vecdot(squared, squared)
    fifth = np.vecdot(squared * shares, squared)
    trace = second - 2 * third + second**2
    squares = fourth - 4 * fifth + 4 * second * fourth + second**4 + 2 * third**2 - 4 * second**2 * third
    with np.errstate(invalid="ignore", divide="ignore"):
        # If one cluster has nearly all weight, the terms cancel each other; the limit is between 1 and 2.
        is_sum = squares > _CANCELLED * fourth
        df = np.where(is_sum, np.maximum(trace**2 / squares, 1.0), 1.0)
        return np.where(number > 1, df, 0.0), 1 / second
