"""Means per tag, exploratory."""

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr

from benchmarks.statistics.clusters import ClusteredMeans, Flags, Floats, clustered_means
from benchmarks.statistics.means import t_interval, unit_interval
from benchmarks.statistics.multiple import holm
from benchmarks.statistics.scores import Scores

MAX_TAGS = 50


@dataclass(frozen=True)
class TagMeans:
    """Means of the cases of one tag and their differences from the other cases, each of shape (entrants,)."""

    tag: str
    cases: Floats
    mean: Floats
    se: Floats
    low: Floats
    high: Floats
    difference: Floats
    p: Floats


def tag_means(scores: Scores, tags: dict[str, Flags]) -> list[TagMeans]:
    """Return means of the most frequent tags, in their order. tags: name to shape (cases,)."""
    frequent = sorted(tags, key=lambda tag: (-int(tags[tag].sum()), tag))[:MAX_TAGS]
    return [_means_of(scores, tag, tags[tag]) for tag in frequent if tags[tag].any()]


def holm_of_tags(tags: list[TagMeans]) -> list[Floats]:
    """Return each tag's p-values adjusted for all tags and entrants together."""
    if not tags:
        return []
    adjusted = holm(np.concatenate([tag.p for tag in tags]))
    return list(adjusted.reshape(len(tags), -1))


def _means_of(scores: Scores, tag: str, has_tag: Flags) -> TagMeans:
    inside = clustered_means(np.where(has_tag, scores.case_means, np.nan), scores.weights, scores.clusters)
    outside = clustered_means(np.where(has_tag, np.nan, scores.case_means), scores.weights, scores.clusters)
    if scores.is_bounded:
        low, high = unit_interval(inside, scores.of_cases(has_tag).effective_items(), is_binary=scores.is_binary)
    else:
        low, high = t_interval(inside)
    cases = ((scores.scored_repeats > 0) & has_tag).sum(axis=1)
    difference = inside.mean - outside.mean
    return TagMeans(tag, cases, inside.mean, inside.se, low, high, difference, _p(difference, inside, outside))


def _p(difference: Floats, inside: ClusteredMeans, outside: ClusteredMeans) -> Floats:
    """Return p-values with Welch's degrees of freedom; a cluster with and without the tag contributes to both."""
    with np.errstate(invalid="ignore", divide="ignore"):
        shared = 2 * (inside.influence * outside.influence).sum(axis=1)
        variance = inside.se**2 + outside.se**2 - shared
        df = (inside.se**2 + outside.se**2) ** 2 / (inside.se**4 / inside.df + outside.se**4 / outside.df)
        statistic = np.abs(difference) / np.sqrt(np.maximum(variance, 0))
        p: Floats = np.where(variance > 0, 2 * stdtr(df, -statistic), np.nan)
    return p
