"""Cost, tokens and times of a run's entrants."""

import numpy as np

from benchmarks.statistics.clusters import Clusters, Flags, Floats, clustered_means
from benchmarks.statistics.costs import cost_per_point, pareto_front
from benchmarks.statistics.inputs import RunInputs
from benchmarks.statistics.means import t_interval
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
