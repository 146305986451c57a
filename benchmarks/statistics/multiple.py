"""Tests of several hypotheses at once."""

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from benchmarks.statistics.clusters import Flags, Floats, Indices
from benchmarks.statistics.means import LEVEL

DRAWS = 5000
SEED = 20260112
_BATCH_CELLS = 1_000_000
# A variance with more degrees of freedom is taken as known.
_MAX_DF = 1000
_MIN_EIGENVALUE = 1e-10


@dataclass(frozen=True)
class StepDown:
    """Comparisons that hold together with 95 %."""

    bound: float  # critical value of simultaneous intervals
    is_above: Flags  # the first of a pair is, shape (pairs,)
    is_below: Flags


def step_down(statistic: Floats, df: float, influence: Floats, first: Indices, second: Indices) -> StepDown:
    """Test θ_first ≤ θ_second and θ_first ≥ θ_second of all pairs together by step-down maxima.

    statistic: difference / standard error, shape (pairs,); influence: of entrants' means, shape (entrants, clusters).
    Entrants without a pair have no effect.
    """
    # The null distribution is that of normal cluster means with the observed correlations and an estimated covariance.
    # Sources: Romano, Wolf (2005); Mogstad, Romano, Shaikh, Wilhelm (2024).
    if not len(statistic):
        return StepDown(float("nan"), np.zeros(0, dtype=bool), np.zeros(0, dtype=bool))
    members, place = np.unique(np.concatenate([first, second]), return_inverse=True)
    drawn = _drawn_statistics(df, influence[members], place[: len(first)], place[len(first) :])
    single = float(stdtrit(df, (1 + LEVEL) / 2))
    is_above, is_below = np.zeros(len(statistic), dtype=bool), np.zeros(len(statistic), dtype=bool)
    bounds: list[float] = []
    while not (is_above | is_below).all() or not bounds:
        upper = drawn[:, ~is_above].max(axis=1, initial=0)
        lower = -drawn[:, ~is_below].min(axis=1, initial=0)
        # Hypotheses are one-sided: of a decided pair, the other one remains.
        bounds.append(max(float(np.quantile(np.maximum(upper, lower), LEVEL)), single))
        above, below = is_above | (statistic > bounds[-1]), is_below | (statistic < -bounds[-1])
        if (above == is_above).all() and (below == is_below).all():
            break
        is_above, is_below = above, below
    return StepDown(bounds[0], is_above, is_below)


def holm(p: Floats) -> Floats:
    """Return p-values adjusted for all that are not NaN."""  # Source: Holm (1979)
    adjusted = np.full(len(p), np.nan)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    factors = len(order) - np.arange(len(order))
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * factors), 1.0)
    return adjusted


def _drawn_statistics(df: float, influence: Floats, first: Indices, second: Indices) -> Floats:
    """Return draws of the statistics if all means are equal, shape (DRAWS, pairs), as float32 to save memory."""
    values, vectors = np.linalg.eigh(influence @ influence.T)
    is_kept = values > _MIN_EIGENVALUE * max(values[-1], np.finfo(float).tiny)
    factor = vectors[:, is_kept] * np.sqrt(values[is_kept])
    entrants, rank = factor.shape
    drawn = np.zeros((DRAWS, len(first)), dtype=np.float32)
    if not rank:
        return drawn  # type: ignore[return-value]
    random = np.random.RandomState(SEED)
    batch = max(1, _BATCH_CELLS // entrants**2)
    floor = 1e-9 * float((factor**2).sum(axis=1).max())
    for begin in range(0, DRAWS, batch):
        rows = drawn[begin : begin + batch]
        means = random.standard_normal((len(rows), rank)) @ factor.T
        if df < _MAX_DF:
            scaled = factor @ _wishart_factors(random, len(rows), rank, df)
            products = scaled @ scaled.transpose(0, 2, 1)
        else:
            products = (factor @ factor.T)[None]
        deviation = np.einsum("dii->di", products)
        variance = deviation[:, first] + deviation[:, second] - 2 * products[:, first, second]
        difference = means[:, first] - means[:, second]
        np.divide(difference, np.sqrt(np.maximum(variance, 0)), out=rows, where=variance > floor, casting="unsafe")
    return drawn  # type: ignore[return-value]


def _wishart_factors(random: np.random.RandomState, draws: int, rank: int, df: float) -> Floats:
    """Return factors T of Wishart matrices T·Tᵀ with mean I, shape (draws, rank, rank)."""
    df = max(df, rank)  # Source: Bartlett (1933)
    triangle = np.zeros((draws, rank, rank))
    rows, columns = np.tril_indices(rank, -1)
    triangle[:, rows, columns] = random.standard_normal((draws, len(rows)))
    diagonal = np.arange(rank)
    triangle[:, diagonal, diagonal] = np.sqrt(random.chisquare(df - diagonal, (draws, rank)))
    factors: Floats = triangle / np.sqrt(df)
    return factors
