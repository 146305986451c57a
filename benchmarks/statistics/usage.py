"""Cost, tokens and times of a run's entrants."""

import numpy as np
from scipy.special import stdtrit

from benchmarks.statistics.clusters import Clusters, Flags, Floats, clustered_means
from benchmarks.statistics.inputs import RunInputs
from benchmarks.statistics.means import LEVEL, t_interval
from benchmarks.statistics.payload import EntrantUsage, Interval, number
from benchmarks.statistics.quantiles import quantile
from benchmarks.statistics.scores import Scores


def usage_of(inputs: RunInputs, scores: Scores, above: Flags) -> list[EntrantUsage]:
    """Return the use of each entrant. above[i, j]: i is separably better than j."""
    usage = inputs.usage
    per_case = _means_of_repeats(usage.cost)
    clusters = Clusters.from_codes(inputs.cluster_codes)
    costs = clustered_means(per_case, np.ones(len(inputs.cases)), clusters)
    low, high = t_interval(costs)
    ratio, ratio_low, ratio_high = cost_per_point(usage.cost[:, inputs.has_weight], scores)
    quality = clustered_means(scores.case_means, scores.weights, scores.clusters).mean
    front = pareto_front(quality, costs.mean)
    cheaper = high[:, None] < low
    return [
        EntrantUsage(
            entrant=entrant.entrant,
            cost=float(np.nansum(usage.cost[i])),
            lost_cost=float(np.nansum(usage.lost_cost[i])),
            lost_calls=_total(usage.lost_calls[i]),
            reused=_total(usage.is_reused[i]),
            not_extracted=int(inputs.not_extracted[i]),
            cost_per_item=_interval(costs.mean[i], low[i], high[i]),
            cost_per_point=_interval(ratio[i], ratio_low[i], ratio_high[i]),
            prompt_tokens=_total(usage.prompt_tokens[i]),
            completion_tokens=_total(usage.completion_tokens[i]),
            reasoning_tokens=_total(usage.reasoning_tokens[i]),
            first_token_p50=_quantile(usage.first_token_ms[i], 0.5, clusters),
            first_token_p95=_quantile(usage.first_token_ms[i], 0.95, clusters),
            total_p50=_quantile(usage.total_ms[i], 0.5, clusters),
            total_p95=_quantile(usage.total_ms[i], 0.95, clusters),
            is_on_front=bool(front[i]),
            is_surely_dominated=bool((above[:, i] & cheaper[:, i]).any()),
        )
        for i, entrant in enumerate(inputs.entrants)
    ]


def _means_of_repeats(values: Floats) -> Floats:
    present = ~np.isnan(values)
    counts = present.sum(axis=2)
    means: Floats = np.divide(np.nansum(values, axis=2), counts, out=np.full(counts.shape, np.nan), where=counts > 0)
    return means


def _total(values: Floats) -> int:
    return int(np.nansum(values))


def _quantile(values: Floats, level: float, clusters: Clusters) -> Interval:
    interval = quantile(values, level, clusters)
    return Interval(interval.value, interval.low, interval.high)


def _interval(value: float, low: float, high: float) -> Interval:
    return Interval(number(value), number(low), number(high))


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
