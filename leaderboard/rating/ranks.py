"""Ranks by non-overlapping intervals, and simultaneous confidence ranges of the true ranks."""

from dataclasses import dataclass

import numpy as np

from leaderboard.rating.board_fit import Board
from leaderboard.rating.bradley_terry import Flags, Floats, Indices
from leaderboard.rating.pairs import row_blocks
from leaderboard.rating.rank_ranges.critical_distance import critical_distance
from leaderboard.rating.rank_ranges.tiers import tiers
from leaderboard.rating.rank_ranges.truths import correlated, plausible_truths, standard_normals

# One of the 5 % permitted errors is left for the estimate of the prior.
LEVEL = 0.96


@dataclass(frozen=True)
class Ranks:
    """Ranks of shape (models,), separate in each group; best ≤ rank ≤ worst; 0: not listed.

    tier: of established models, otherwise 0.
    """

    rank: Indices
    best: Indices
    worst: Indices
    tier: Indices


def rank_board(board: Board) -> Ranks:
    """Return ranks: 1 + the number of models whose lower bound is above this model's upper bound.

    Established models are compared with each other only, preliminary ones with all listed. Ranges go from 1 + the
    number significantly above to the number not significantly below, widened to contain the rank; preliminary models
    use intervals instead.
    """
    compared = board.group[:, None] == board.group
    compared &= board.listed[:, None] & (board.established[:, None] | board.preliminary)
    above = board.low[:, None] > board.high
    rank = 1 + (compared & above).sum(axis=0)
    tier = np.zeros_like(rank)
    for group in np.unique(board.group[board.established]):
        members = np.flatnonzero(board.established & (board.group == group))
        inside, is_all = np.ix_(members, members), len(members) == len(board.score)
        covariance = board.covariance if is_all else board.covariance[inside]
        above[inside], tier[members] = _compare(board.score[members], covariance)
    best = np.minimum(1 + (compared & above).sum(axis=0), rank)
    worst = compared.sum(axis=0) - (compared & above.T).sum(axis=0)
    return Ranks(*(np.where(board.listed, places, 0) for places in (rank, best, worst, tier)))


def rank_established(score: Floats, low: Floats, high: Floats, covariance: Floats) -> Ranks:
    """Rank as rank_board does. covariance: shape (models, models)."""
    rank = 1 + (low[:, None] > high).sum(axis=0)
    above, tier = _compare(score, covariance)
    best = np.minimum(1 + above.sum(axis=0), rank)
    worst = np.maximum(len(score) - above.sum(axis=1), rank)
    return Ranks(rank, best, worst, tier)


def significantly_above(score: Floats, covariance: Floats) -> Flags:
    """Return above[i, j]: i counts as better than j, shape (models, models); all ranges are right with 95 %.

    The critical distance comes from draws of plausible truths and of errors N(0, covariance).
    """
    return _compare(score, covariance)[0]


def _compare(score: Floats, covariance: Floats) -> tuple[Flags, Indices]:
    """Return significantly_above and the tiers."""
    above, tier = np.zeros(covariance.shape, dtype=bool), np.ones(len(score), dtype=np.int64)
    if len(score) < 2:
        return above, tier
    # Models are sorted by score, so that their order does not matter.
    order = np.argsort(-score, kind="stable")
    score, inside = score[order], np.ix_(order, order)
    # A matrix of thousands of models takes 100 MB: each is freed or overwritten before the next.
    draws = correlated(_regular(covariance[inside]), standard_normals(len(score)), overwrite=True)
    errors = draws.astype(np.float32)
    draws = plausible_truths(score, covariance[inside], overwrite=True)
    truths = draws.astype(np.float32)
    del draws
    scale = difference_errors(covariance[inside], overwrite=True)
    bound = critical_distance(truths, errors, scale, level=LEVEL)
    del truths, errors
    is_above = np.empty_like(above)
    for rows in row_blocks(*scale.shape):
        is_above[rows] = (score[rows, None] - score > bound * scale[rows]) & (scale[rows] > 0)
    above[inside] = np.triu(is_above, 1)
    tier[order] = tiers(score, scale, overwrite=True)
    return above, tier


def _regular(covariance: Floats) -> Floats:
    """Add a common variance of all scores in place: it changes no difference and makes the matrix regular."""
    covariance += covariance.trace() / len(covariance) ** 2
    return covariance


def difference_errors(covariance: Floats, *, overwrite: bool = False) -> Floats:
    """Return standard errors of the differences of scores, shape (models, models)."""
    deviation = covariance.diagonal().copy()
    errors = covariance if overwrite else np.empty_like(covariance)
    for rows in row_blocks(*covariance.shape):
        block: Floats = deviation[rows, None] + deviation
        for _ in range(2):
            block -= covariance[rows]
        np.sqrt(np.maximum(block, 0, out=block), out=errors[rows])
    return errors
