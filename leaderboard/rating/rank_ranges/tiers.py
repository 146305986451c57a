"""Tiers: consecutive groups of models whose order is surely true."""

import numpy as np
from scipy.special import ndtri

from leaderboard.rating.bradley_terry import Floats, Indices

ERROR_RATE = 0.05


def tiers(score: Floats, scale: Floats) -> Indices:
    """Return the tier of each model, from 1; every model of a tier is better than all of the next ones.

    scale: standard errors of the differences, shape (models, models). All orders together are wrong with a probability
    of at most ERROR_RATE. A cut of the ranking needs all differences across it to exceed a critical distance. If a cut
    is wrong, then in the true order there are two neighbours of which the worse one is above and the better one below
    it, so one of models − 1 differences has a one-sided error above that distance, which Bonferroni's inequality
    bounds; true cuts take their neighbours away (Holm).
    Sources: Berger, “Multiparameter hypothesis testing and acceptance sampling” (1982); Holm (1979).
    """
    order = np.argsort(-score, kind="stable")
    strength = _cut_strengths(score[order], scale[np.ix_(order, order)])
    is_cut = np.zeros(len(strength), dtype=bool)
    while not is_cut.all():
        bound = -ndtri(ERROR_RATE / np.count_nonzero(~is_cut))
        following = strength > bound
        if (following == is_cut).all():
            break
        is_cut = following
    found = np.empty(len(score), dtype=np.int64)
    found[order] = 1 + np.concatenate([[0], is_cut.cumsum()])[: len(score)]
    return found


def _cut_strengths(score: Floats, scale: Floats) -> Floats:
    """Return the smallest distance, in standard errors, across the cut after each model but the last."""
    distance = np.divide(score[:, None] - score, scale, out=np.zeros_like(scale), where=scale > 0)
    to_lower = np.minimum.accumulate(distance[:, ::-1], axis=1)[:, ::-1]
    smallest: Floats = np.minimum.accumulate(to_lower, axis=0).diagonal(1)
    return smallest
