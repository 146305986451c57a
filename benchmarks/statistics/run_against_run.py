"""Two runs of the same entrant on the cases that both have."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import comb

from benchmarks.statistics.clusters import Flags, Floats, Indices
from benchmarks.statistics.paired import PairedDifferences, paired_differences
from benchmarks.statistics.scores import Scores


@dataclass(frozen=True)
class MatchedCases:
    """Places of the same cases in the older and the newer run, and numbers of the others."""

    older: Indices
    newer: Indices
    new: int
    gone: int


@dataclass(frozen=True)
class Flips:
    """Cases with more than half of the repeats passed in one run only, as places among the matched cases."""

    broken: Indices
    mended: Indices
    # Number of either kind if repeats are exchangeable between runs; None if no case has three in both together.
    expected: float | None


def match_cases(older: Sequence[str], newer: Sequence[str]) -> MatchedCases:
    """Match cases by digest; equal digests match in their order."""
    places: dict[str, list[int]] = {}
    for place, digest in enumerate(older):
        places.setdefault(digest, []).append(place)
    for equal in places.values():
        equal.reverse()
    pairs = [(places[digest].pop(), place) for place, digest in enumerate(newer) if places.get(digest)]
    first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return MatchedCases(first, second, len(newer) - len(pairs), len(older) - len(pairs))


def difference_of_runs(
    older: Scores, newer: Scores, entrant: tuple[int, int], matched: MatchedCases
) -> PairedDifferences:
    """Return newer − older of one entrant, by matched cases, with the newer run's weights and clusters.

    entrant: its places in the older and the newer run. Scores must have kept all cases.
    """
    repeats = max(older.repeats, newer.repeats)
    both = [_taken(newer, entrant[1], matched.newer, repeats), _taken(older, entrant[0], matched.older, repeats)]
    kinds = np.zeros((2, len(matched.newer), repeats), dtype=np.int8)
    scores = Scores(np.stack(both), kinds, newer.weights[matched.newer], newer.cluster_codes[matched.newer])
    return paired_differences(scores, (np.array([0]), np.array([1])))


def flips(older: Floats, newer: Floats) -> Flips:
    """Return flips of one entrant. older, newer: passed or not, shape (matched cases, repeats), NaN where absent."""
    old_n, new_n = (~np.isnan(older)).sum(axis=1), (~np.isnan(newer)).sum(axis=1)
    old_c, new_c = np.nansum(older, axis=1).astype(int), np.nansum(newer, axis=1).astype(int)
    has_both = (old_n > 0) & (new_n > 0)
    was_right, is_right = has_both & (2 * old_c > old_n), has_both & (2 * new_c > new_n)
    informative = has_both & (old_n + new_n > 2)
    expected = None
    if informative.any():
        expected = float(_flip_probability(old_n, new_n, old_c + new_c, informative).sum())
    return Flips(np.flatnonzero(was_right & ~is_right & has_both), np.flatnonzero(~was_right & is_right), expected)


def _flip_probability(old_n: Indices, new_n: Indices, passes: Indices, cases: Flags) -> Floats:
    """Return the permutation probability of different majorities, shape (chosen cases,): hypergeometric."""
    old_n, new_n, passes = (counts[cases][:, None] for counts in (old_n, new_n, passes))
    drawn = np.arange(int(old_n.max()) + 1)
    ways = comb(passes, drawn) * comb(old_n + new_n - passes, old_n - drawn) * (drawn <= old_n)
    differ = (2 * drawn > old_n) != (2 * (passes - drawn) > new_n)
    probability: Floats = (ways * differ).sum(axis=1) / comb(old_n + new_n, old_n)[:, 0]
    return probability


def _taken(scores: Scores, entrant: int, cases: Indices, repeats: int) -> Floats:
    values = np.full((len(cases), repeats), np.nan)
    values[:, : scores.repeats] = scores.values[entrant, cases]
    return values
