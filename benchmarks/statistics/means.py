"""Intervals of means, by default 95 %."""

# Functions import scipy late: few processes need it.

import numpy as np

from benchmarks.statistics.clusters import ClusteredMeans, Floats

LEVEL = 0.95


def unit_interval(
    means: ClusteredMeans, items: Floats, *, is_binary: bool, level: float = LEVEL
) -> tuple[Floats, Floats]:
    """Return bounds of means of scores in [0, 1]: Wilson's interval with an effective number of items.

    items: effective number of scored items of each mean. One cluster of several items gives [0, 1].
    """
    # n = μ(1−μ)/se² · (z/t)², of binary scores at most `items`; without variation, the effective number of clusters.
    # Sources: Wilson (1927); Korn, Graubard (1998); Dean, Pagano (2015).
    from scipy.special import ndtri, stdtrit

    tail = (1 + level) / 2
    z = float(ndtri(tail))
    mean = np.clip(means.mean, 0.0, 1.0)
    variance, squared = mean * (1 - mean), means.se**2
    with np.errstate(invalid="ignore", divide="ignore"):
        if not is_binary:
            # Two cases as variable as scores of 0 and 1 can be: a few equal scores do not prove a small variance.
            squared = (means.effective * squared + 2 * variance / means.effective) / (means.effective + 2)
        size = variance / squared
        if is_binary:
            size = np.minimum(size, items)
        size = np.maximum(size, 1.0) * (z / stdtrit(means.df, tail)) ** 2
    size = np.where(means.se > 0, size, means.effective)
    low, high = wilson(mean, size, z)
    is_unknown = np.isnan(means.se) & (items > 1)
    return np.where(is_unknown, 0.0, low), np.where(is_unknown, 1.0, high)


def t_interval(means: ClusteredMeans, *, level: float = LEVEL) -> tuple[Floats, Floats]:
    """Return bounds μ ± t·se of unbounded scores; NaN with one cluster and without variation."""
    from scipy.special import stdtrit

    with np.errstate(invalid="ignore"):
        half = np.where(means.se > 0, stdtrit(means.df, (1 + level) / 2) * means.se, np.nan)
    return means.mean - half, means.mean + half


def wilson(share: Floats, size: Floats, z: float) -> tuple[Floats, Floats]:
    """Return Wilson's bounds of shares observed in `size` independent trials."""
    with np.errstate(invalid="ignore", divide="ignore"):
        centre = (share + z**2 / (2 * size)) / (1 + z**2 / size)
        half = z / (1 + z**2 / size) * np.sqrt(share * (1 - share) / size + z**2 / (4 * size**2))
    return np.clip(np.minimum(centre - half, share), 0, 1), np.clip(np.maximum(centre + half, share), 0, 1)
