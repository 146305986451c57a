"""Differences of two entrants on the cases that both have."""

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, stdtr, stdtrit

from benchmarks.statistics.clusters import ClusteredMeans, Floats, Indices, clustered_means
from benchmarks.statistics.means import LEVEL
from benchmarks.statistics.scores import Scores

Pairs = tuple[Indices, Indices]


@dataclass(frozen=True)
class PairedDifferences:
    """Differences first − second, each field of shape (pairs,)."""

    first: Indices
    second: Indices
    cases: Indices  # that both have
    clusters: Indices
    difference: Floats
    se: Floats  # NaN with one cluster
    df: Floats
    centre: Floats  # estimate and standard error of intervals and tests
    scale: Floats
    low: Floats
    high: Floats
    p: Floats
    exact_p: Floats  # McNemar's, NaN if it does not apply
    between: Floats  # variance of true differences of cases; NaN without repeats
    within: Floats  # variance of a difference of single repeats of one case; NaN without repeats


def all_pairs(entrants: int) -> Pairs:
    first, second = np.triu_indices(entrants, 1)
    return first, second


def against(baseline: int, entrants: int) -> Pairs:
    """Return pairs of each other entrant with the baseline as the second."""
    others = np.flatnonzero(np.arange(entrants) != baseline)
    return others, np.full(len(others), baseline)


def paired_differences(scores: Scores, pairs: Pairs) -> PairedDifferences:
    """Return differences of case means with clustered errors and pointwise 95 % intervals."""
    # Source: Miller (2024). Bounded scores get two more clusters with differences ±h, h the largest of a cluster or 1:
    # for binary scores without clusters and repeats this is Bonett's and Price's (2012) interval, with Student's t.
    parts = []
    for entrant in np.unique(pairs[0]):  # one entrant's pairs at a time bound the memory
        of_entrant = pairs[0] == entrant
        parts.append((np.flatnonzero(of_entrant), _differences(scores, int(entrant), pairs[1][of_entrant])))
    if not parts:
        return PairedDifferences(*pairs, *(np.empty(0),) * (len(fields(PairedDifferences)) - 2))  # type: ignore[arg-type]
    order = np.argsort(np.concatenate([places for places, _ in parts]))
    return PairedDifferences(
        *(
            np.concatenate([getattr(part, field.name) for _, part in parts])[order]
            for field in fields(PairedDifferences)
        )
    )


def regularized(means: ClusteredMeans, largest: Floats) -> tuple[Floats, Floats]:
    """Return mean and standard error with two more clusters of average weight at ±largest, df unchanged."""
    size, number = means.effective, means.clusters
    variance = np.where(number > 1, means.se**2 * size * (number - 1) / np.maximum(number, 1), 0.0)
    centre = means.mean * size / (size + 2)
    second_moment = (size * (variance + means.mean**2) + 2 * largest**2) / (size + 2)
    return centre, np.sqrt(np.maximum(second_moment - centre**2, 0.0) / (size + 1))


def exact_mcnemar(wins: Indices, losses: Indices) -> Floats:
    """Return two-sided exact p-values."""
    p: Floats = np.minimum(1.0, 2 * bdtr(np.minimum(wins, losses), wins + losses, 0.5))
    return p


def _differences(scores: Scores, entrant: int, others: NDArray[np.int64]) -> PairedDifferences:
    values = scores.case_means[entrant] - scores.case_means[others]
    means = clustered_means(values, scores.weights, scores.clusters)
    present = ~np.isnan(values)
    cases = present.sum(axis=1)
    filled = np.where(present, values, 0.0)
    centre, scale = means.mean, means.se
    if scores.is_bounded:
        weight = scores.clusters.sums(present * scores.weights)
        sums = scores.clusters.sums(present * scores.weights * filled)
        largest = np.abs(np.divide(sums, weight, out=np.zeros(sums.shape), where=weight > 0)).max(axis=1, initial=0)
        centre, scale = regularized(means, np.where(largest > 0, largest, 1.0))
    has_error = (means.df > 0) & (scale > 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        half = np.where(has_error, stdtrit(means.df, (1 + LEVEL) / 2) * scale, np.nan)
        p = np.where(has_error, 2 * stdtr(means.df, -np.abs(centre / scale)), np.nan)
    low, high = centre - half, centre + half
    if scores.is_bounded:
        low, high = (np.where(has_error, bound, limit) for bound, limit in ((low, -1.0), (high, 1.0)))
        low, high = np.minimum(np.maximum(low, -1), means.mean), np.maximum(np.minimum(high, 1), means.mean)
    exact = np.full(len(others), np.nan)
    if scores.is_binary and scores.repeats == 1 and scores.clusters.are_cases and len(np.unique(scores.weights)) < 2:
        exact = np.where(cases > 0, exact_mcnemar((filled > 0).sum(axis=1), (filled < 0).sum(axis=1)), np.nan)
    between, within = _variances(scores, entrant, others, filled, present)
    return PairedDifferences(
        np.full(len(others), entrant), others, cases, means.clusters, means.mean, means.se, means.df, centre, scale,
        low, high, p, exact, between, within,
    )  # fmt: skip


def _variances(
    scores: Scores, entrant: int, others: Indices, filled: Floats, present: NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """Return the variance of differences between cases and within cases (NaN without repeats), by unbiased moments."""
    weight = present * scores.weights
    total = weight.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = (weight * filled).sum(axis=1) / total
        spread = (weight * (filled - mean[:, None]) ** 2).sum(axis=1)
        variance = spread / (total - (weight**2).sum(axis=1) / total)
        own, other = repeat_variances(scores)[entrant], repeat_variances(scores)[others]
        inverse = weight / total[:, None]
        noise = own * (inverse / scores.scored_repeats[entrant]).sum(axis=1, where=present)
        noise += other * (inverse / scores.scored_repeats[others]).sum(axis=1, where=present)
    return np.maximum(variance - noise, 0.0), own + other


def repeat_variances(scores: Scores) -> Floats:
    """Return the pooled variance of repeats of one case, shape (entrants,), NaN without repeats."""
    if scores.repeats == 1:
        return np.full(scores.entrants, np.nan)
    squares = np.nansum((scores.values - scores.case_means[:, :, None]) ** 2, axis=(1, 2))
    freedom = np.maximum(scores.scored_repeats - 1, 0).sum(axis=1)
    variances: Floats = np.divide(squares, freedom, out=np.full(scores.entrants, np.nan), where=freedom > 0)
    return variances
