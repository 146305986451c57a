from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri, stdtrit
from scipy.stats import binom

from benchmarks.statistics.clusters import Clusters, Floats, clustered_means
from benchmarks.statistics.means import LEVEL


@dataclass(frozen=True)
class Quantile:
    """Quantile with a 95 % interval; a bound beyond all values is None."""

    value: float | None
    low: float | None
    high: float | None
    n: int


def quantile(values: Floats, level: float, clusters: Clusters) -> Quantile:
    """Return a quantile between order statistics. values: shape (cases, repeats), NaN where absent."""
    # The ranks are those of Bin(n, level), which is exact for independent values; n is divided by the design effect of
    # the share of values up to the quantile if cases repeat or are clustered.
    # Sources: Thompson (1936); Woodruff (1952).
    present = ~np.isnan(values)
    ordered = np.sort(values[present])
    n = len(ordered)
    if not n:
        return Quantile(None, None, None, 0)
    value = float(np.quantile(ordered, level))
    size = n
    if not clusters.are_cases or (present.sum(axis=1) > 1).any():
        size = _effective_size(values, value, level, n, clusters)
    tail = (1 - LEVEL) / 2
    below, above = int(binom.ppf(tail, size, level)), int(binom.ppf(1 - tail, size, level)) + 1
    low = float(ordered[max(below * n // size, 1) - 1]) if below >= 1 else None
    high = float(ordered[min(-(-above * n // size), n) - 1]) if above <= size else None
    return Quantile(value, None if low is None else min(low, value), None if high is None else max(high, value), n)


def _effective_size(values: Floats, value: float, level: float, n: int, clusters: Clusters) -> int:
    present = ~np.isnan(values)
    repeats = present.sum(axis=1)
    counts = ((values <= value) & present).sum(axis=1)
    share = np.divide(counts, repeats, out=np.full(len(values), np.nan), where=repeats > 0)
    means = clustered_means(share[None], repeats.astype(float), clusters)
    if not means.se[0] > 0:
        return max(1, min(n, int(means.effective[0])))
    tail = (1 + LEVEL) / 2
    student = float(ndtri(tail)) / float(stdtrit(means.df[0], tail))
    return max(1, min(n, int(level * (1 - level) / means.se[0] ** 2 * student**2)))
