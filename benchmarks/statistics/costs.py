"""Cost per point, and the front of quality and cost."""

import numpy as np
from scipy.special import stdtrit

from benchmarks.statistics.clusters import Flags, Floats, clustered_means
from benchmarks.statistics.means import LEVEL
from benchmarks.statistics.scores import Scores


def cost_per_point(cost: Floats, scores: Scores) -> tuple[Floats, Floats, Floats]:
    """Return Σ cost / Σ score over scored items, and its 95 % bounds, each of shape (entrants,); NaN without points.

    cost: shape (entrants, cases, repeats).
    """
    # Symmetric for the logarithm, with a linearized, clustered error. Source: Cochran (1977), ratio estimators.
    counted = scores.is_present & ~np.isnan(cost)
    costs = np.where(counted, cost, 0.0).sum(axis=2)
    points = np.where(counted, scores.values, 0.0).sum(axis=2)
    with np.errstate(invalid="ignore", divide="ignore"):
        total, all_points = costs.sum(axis=1), points.sum(axis=1)
        ratio = np.where(all_points > 0, total / all_points, np.nan)
        # A ratio's error is the mean of (cost − ratio · points) over the mean of points.
        residual = np.where(counted.any(axis=2), costs - ratio[:, None] * points, np.nan)
        means = clustered_means(residual, np.ones(scores.cases), scores.clusters)
        relative = means.se / (all_points / counted.any(axis=2).sum(axis=1)) / ratio
        half = np.where(relative > 0, stdtrit(means.df, (1 + LEVEL) / 2) * relative, np.nan)
        return ratio, ratio * np.exp(-half), ratio * np.exp(half)


def pareto_front(quality: Floats, cost: Floats) -> Flags:
    """Return which entrants no other one beats in quality or cost without losing in the other; NaN is never on it."""
    known = ~(np.isnan(quality) | np.isnan(cost))
    no_worse = (quality[:, None] >= quality) & (cost[:, None] <= cost)
    better = (quality[:, None] > quality) | (cost[:, None] < cost)
    front: Flags = known & ~(no_worse & better).any(axis=0)
    return front
