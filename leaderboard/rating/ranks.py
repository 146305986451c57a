"""Ranks by non-overlapping intervals, and simultaneous confidence ranges of the true ranks."""

from dataclasses import dataclass

import numpy as np

from leaderboard.rating.board_fit import Board
from leaderboard.rating.bradley_terry import Flags, Floats, Indices
from leaderboard.rating.rank_ranges.critical_distance import critical_distance
from leaderboard.rating.rank_ranges.tiers import tiers
from leaderboard.rating.rank_ranges.truths import correlated, plausible_truths, standard_normals

# Of 5 % permitted errors, one is left for the estimate of the prior.
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
    same_group = board.group[:, None] == board.group
    compared = board.listed[:, None] & same_group & (board.established[:, None] | board.preliminary)
    above = board.low[:, None] > board.high
    rank = 1 + (compared & above).sum(axis=0)
    tier = np.zeros_like(rank)
    for group in np.unique(board.group[board.established]):
        members = np.flatnonzero(board.established & (board.group == group))
        inside = np.ix_(members, members)
        above[inside] = significantly_above(board.score[members], board.covariance[inside])
        tier[members] = tiers(board.score[members], difference_errors(board.covariance[inside]))
    best = np.minimum(1 + (compared & above).sum(axis=0), rank)
    worst = compared.sum(axis=0) - (compared & above.T).sum(axis=0)
    return Ranks(*(np.where(board.listed, places, 0) for places in (rank, best, worst, tier)))


def rank_established(score: Floats, low: Floats, high: Floats, covariance: Floats) -> Ranks:
    """Rank as rank_board does. covariance: shape (models, models)."""
    rank = 1 + (low[:, None] > high).sum(axis=0)
    above = significantly_above(score, covariance)
    best = np.minimum(1 + above.sum(axis=0), rank)
    worst = np.maximum(len(score) - above.sum(axis=1), rank)
    return Ranks(rank, best, worst, tiers(score, difference_errors(covariance)))


def significantly_above(score: Floats, covariance: Floats) -> Flags:
    """Return above[i, j]: i counts as better than j, shape (models, models); all ranges are right with 95 %.

    The critical distance comes from draws of plausible truths and of errors N(0, covariance).
    """
    # In order of scores, so that the order of models does not matter.
    order = np.argsort(-score, kind="stable")
    score, covariance = score[order], covariance[np.ix_(order, order)]
    scale = difference_errors(covariance)
    above = np.zeros(scale.shape, dtype=bool)
    if len(score) > 1:
        # A common variance of all scores changes no difference and makes the covariance regular.
        errors = correlated(covariance + covariance.trace() / len(score) ** 2, standard_normals(len(score)))
        bound = critical_distance(plausible_truths(score, covariance), errors, scale, level=LEVEL)
        above[np.ix_(order, order)] = np.triu((score[:, None] - score > bound * scale) & (scale > 0), 1)
    return above


def difference_errors(covariance: Floats) -> Floats:
    """Return standard errors of the differences of scores, shape (models, models)."""
    deviation = np.diag(covariance)
    errors: Floats = deviation[:, None] + deviation
    for _ in range(2):
        errors -= covariance
    return np.sqrt(np.maximum(errors, 0, out=errors), out=errors)
