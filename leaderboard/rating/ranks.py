"""Ranks by non-overlapping intervals, and simultaneous confidence ranges of the true ranks."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.linalg import LinAlgError, cholesky, eigh

from leaderboard.rating.board_fit import Board
from leaderboard.rating.bradley_terry import Flags, Floats, Indices
from leaderboard.rating.step_down import critical_distance

DRAWS = 2000
SEED = 20240601
LEVEL = 0.95


@dataclass(frozen=True)
class Ranks:
    """Ranks of shape (models,), separate in each group; best ≤ rank ≤ worst; 0: not listed."""

    rank: Indices
    best: Indices
    worst: Indices


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
    for group in np.unique(board.group[board.established]):
        members = np.flatnonzero(board.established & (board.group == group))
        inside = np.ix_(members, members)
        above[inside] = significantly_above(board.score[members], board.covariance[inside])
    best = np.minimum(1 + (compared & above).sum(axis=0), rank)
    worst = compared.sum(axis=0) - (compared & above.T).sum(axis=0)
    return Ranks(*(np.where(board.listed, places, 0) for places in (rank, best, worst)))


def rank_established(score: Floats, low: Floats, high: Floats, covariance: Floats) -> Ranks:
    """Rank established models of one group, as rank_board does. covariance: shape (models, models)."""
    rank = 1 + (low[:, None] > high).sum(axis=0)
    above = significantly_above(score, covariance)
    best = np.minimum(1 + above.sum(axis=0), rank)
    worst = np.maximum(len(score) - above.sum(axis=1), rank)
    return Ranks(rank, best, worst)


def significantly_above(score: Floats, covariance: Floats) -> Flags:
    """Return above[i, j]: i is better than j, shape (models, models); familywise error rate 5 %.

    Step-down max-t over all pairwise differences: those larger than the 95 % quantile of the largest one under
    N(0, covariance) are significant; repeated with the remaining pairs until none is added. The quantile comes from
    DRAWS fixed draws, with models in order of scores, so that the order of models does not matter.
    Sources: Romano, Wolf, “Exact and approximate stepdown methods for multiple hypothesis testing” (2005);
    Mogstad, Romano, Shaikh, Wilhelm, “Inference for ranks” (2024).
    """
    order = np.argsort(-score, kind="stable")
    score, covariance = score[order], covariance[np.ix_(order, order)]
    deviation = np.diag(covariance)
    variance = deviation[:, None] + deviation - 2 * covariance
    scale = np.divide(1, np.sqrt(variance), out=np.zeros_like(variance), where=variance > 0)
    # A common variance of all scores changes no difference and makes the covariance regular.
    root = _covariance_root(covariance + covariance.trace() / len(score) ** 2)
    draws, weights = (root @ _standard_normals(len(score))).astype(np.float32), scale.astype(np.float32)
    distance = np.triu((score[:, None] - score) * scale, 1)
    above = np.zeros(distance.shape, dtype=bool)
    above[np.ix_(order, order)] = distance > critical_distance(distance, draws, weights, level=LEVEL)
    return above


def _covariance_root(covariance: Floats) -> Floats:
    """Return R with R Rᵀ = covariance, also where that is singular, up to rounding."""
    try:
        return cholesky(covariance, lower=True)
    except LinAlgError:
        variances, directions = eigh(covariance)
        return directions * np.sqrt(np.maximum(variances, 0))


@lru_cache(maxsize=1)  # most boards of an arena have the same number of models
def _standard_normals(models: int) -> Floats:
    """Return fixed standard normals, shape (models, DRAWS): NumPy guarantees the stream of RandomState."""
    return np.random.RandomState(SEED).standard_normal((models, DRAWS))
