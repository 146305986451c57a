"""Ranks that claim no more than the intervals show, and the range in which the true ranks lie."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.linalg import LinAlgError, cholesky, eigh

from leaderboard.rating.board_fit import Board
from leaderboard.rating.bradley_terry import Flags, Floats, Indices
from leaderboard.rating.step_down import certain_beyond

DRAWS = 2000
SEED = 20240601
LEVEL = 0.95


@dataclass(frozen=True)
class Ranks:
    """Shape (models,) each; 0 for a model that is not listed. best ≤ rank ≤ worst. Each group has its own ranks."""

    rank: Indices
    best: Indices
    worst: Indices


def rank_board(board: Board) -> Ranks:
    """rank = 1 + how many are clearly above, that is: their lower bound is higher than this one's upper bound.

    Established models are compared with each other only, so that newcomers push nobody down; a preliminary one
    with everybody listed. An established model's range is one more than the number of models that are surely
    above it, to the number of those that are not surely below, widened to contain the rank (see surely_above); a
    preliminary one's takes the intervals' word for “surely”.
    """
    same_group = board.group[:, None] == board.group
    compared = board.listed[:, None] & same_group & (board.established[:, None] | board.preliminary)
    above = board.low[:, None] > board.high
    rank = 1 + (compared & above).sum(axis=0)
    for group in np.unique(board.group[board.established]):
        members = np.flatnonzero(board.established & (board.group == group))
        inside = np.ix_(members, members)
        above[inside] = surely_above(board.score[members], board.covariance[inside])
    best = np.minimum(1 + (compared & above).sum(axis=0), rank)
    worst = compared.sum(axis=0) - (compared & above.T).sum(axis=0)
    return Ranks(*(np.where(board.listed, places, 0) for places in (rank, best, worst)))


def rank_established(score: Floats, low: Floats, high: Floats, covariance: Floats) -> Ranks:
    """As rank_board, of models that are all established and of one group. Shapes (models,) and (models, models)."""
    rank = 1 + (low[:, None] > high).sum(axis=0)
    above = surely_above(score, covariance)
    best = np.minimum(1 + above.sum(axis=0), rank)
    worst = np.maximum(len(score) - above.sum(axis=1), rank)
    return Ranks(rank, best, worst)


def surely_above(score: Floats, covariance: Floats) -> Flags:
    """above[i, j]: i is better than j; with a chance of 95 % no such statement is wrong. Shape (models, models).

    Step-down max-t over all pairwise differences: those larger than the 95 % quantile of the largest one under
    N(0, covariance) are certain; the quantile is then taken over the pairs left, until nothing is added.
    The quantile is that of DRAWS draws from a stream that never changes, with models in order of their scores:
    the same votes give the same ranks, whatever the order of models.
    Sources: Romano, Wolf, “Exact and approximate stepdown methods for multiple hypothesis testing” (2005);
    Mogstad, Romano, Shaikh, Wilhelm, “Inference for ranks” (2024).
    """
    order = np.argsort(-score, kind="stable")
    score, covariance = score[order], covariance[np.ix_(order, order)]
    deviation = np.diag(covariance)
    variance = deviation[:, None] + deviation - 2 * covariance
    scale = np.divide(1, np.sqrt(variance), out=np.zeros_like(variance), where=variance > 0)
    # A common shift of all scores changes no difference and makes the covariance regular.
    root = _root(covariance + covariance.trace() / len(score) ** 2)
    draws, weights = (root @ _noise(len(score))).astype(np.float32), scale.astype(np.float32)
    distance = np.triu((score[:, None] - score) * scale, 1)
    above = np.zeros(distance.shape, dtype=bool)
    above[np.ix_(order, order)] = distance > certain_beyond(distance, draws, weights, level=LEVEL)
    return above


def _root(covariance: Floats) -> Floats:
    """Return R with R Rᵀ = covariance; also where the covariance is singular, up to rounding."""
    try:
        return cholesky(covariance, lower=True)
    except LinAlgError:
        variances, directions = eigh(covariance)
        return directions * np.sqrt(np.maximum(variances, 0))


@lru_cache(maxsize=1)  # the boards of an arena are of much the same models
def _noise(models: int) -> Floats:
    """Standard normals, shape (models, DRAWS), always the same: RandomState's stream is frozen for good."""
    return np.random.RandomState(SEED).standard_normal((models, DRAWS))
