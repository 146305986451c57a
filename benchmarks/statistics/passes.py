"""pass@k, pass^k and majority@k from repeats."""

from dataclasses import dataclass

import numpy as np
from scipy.special import comb

from benchmarks.statistics.clusters import Floats, Indices, clustered_means
from benchmarks.statistics.means import unit_interval
from benchmarks.statistics.scores import Scores


@dataclass(frozen=True)
class PassRates:
    """Estimates with intervals, each of shape (entrants,)."""

    measure: str
    k: int
    cases: Indices  # with k scored repeats
    mean: Floats
    se: Floats
    low: Floats
    high: Floats


def ks(repeats: int) -> list[int]:
    """Return 1, the powers of two and `repeats`."""
    return sorted({1 << bit for bit in range(repeats.bit_length())} | {repeats})


def pass_rates(passed: Scores) -> list[PassRates]:
    """Return the three measures for each k. passed: binary scores."""
    # Means over cases of 1 − C(n−c, k)/C(n, k) (Chen et al. 2021), C(c, k)/C(n, k) (Yao et al. 2024), and the
    # probability that more than half of k repeats drawn without replacement pass, half of them counting ½.
    repeats, passes = passed.scored_repeats, np.nansum(passed.values, axis=2).astype(np.int64)
    rates = []
    for k in ks(passed.repeats):
        for measure, values in (
            ("pass@k", at_least_one(repeats, passes, k)),
            ("pass^k", all_of(repeats, passes, k)),
            ("majority@k", majority(repeats, passes, k)),
        ):
            means = clustered_means(values, passed.weights, passed.clusters)
            present = ~np.isnan(values)
            is_binary = k == 1 or bool(((values == 0) | (values == 1))[present].all())
            items = passed.effective_items() if k == 1 else means.effective
            low, high = unit_interval(means, items, is_binary=is_binary)
            rates.append(PassRates(measure, k, present.sum(axis=1), means.mean, means.se, low, high))
    return rates


def at_least_one(repeats: Indices, passes: Indices, k: int) -> Floats:
    return 1 - all_of(repeats, repeats - passes, k)


def all_of(repeats: Indices, passes: Indices, k: int) -> Floats:
    return _ratio(_ways(passes, k), _ways(repeats, k))


def majority(repeats: Indices, passes: Indices, k: int) -> Floats:
    ways = np.zeros(np.shape(passes))
    for drawn in range((k + 1) // 2, k + 1):
        half = 0.5 if 2 * drawn == k else 1.0
        ways += half * _ways(passes, drawn) * _ways(repeats - passes, k - drawn)
    return _ratio(ways, _ways(repeats, k))


def _ways(items: Indices, chosen: int) -> Floats:
    return comb(items, chosen).astype(np.float64)


def _ratio(ways: Floats, all_ways: Floats) -> Floats:
    shares: Floats = np.divide(ways, all_ways, out=np.full(ways.shape, np.nan), where=all_ways > 0)
    return shares
