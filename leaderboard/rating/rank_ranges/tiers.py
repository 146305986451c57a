import numpy as np
from scipy.special import ndtri

from leaderboard.rating.bradley_terry import Floats, Indices

ERROR_RATE = 0.05


def tiers(score: Floats, scale: Floats) -> Indices:
    """Return the tier of each model, from 1; all orders of tiers are true with 1 − ERROR_RATE.

    scale: standard errors of the differences, shape (models, models). Sources: Berger (1982); Holm (1979).
    """
    # If a cut is wrong, then in the true order there are two neighbours of which the worse one is above and the better
    # one below it. So one of models − 1 differences has a one-sided error beyond the bound: Bonferroni's inequality.
    # True cuts take their neighbours away (Holm).
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
    """Return the smallest distance, in standard errors, across each cut."""
    distance = score[:, None] - score
    distance[scale == 0] = 0
    np.divide(distance, scale, out=distance, where=scale > 0)
    for along in (distance[:, ::-1].T, distance):
        np.minimum.accumulate(along, axis=0, out=along)
    smallest: Floats = distance.diagonal(1)
    return smallest
