import numpy as np
from scipy.special import ndtri

from leaderboard.rating.bradley_terry import Floats, Indices
from leaderboard.rating.pairs import row_blocks

ERROR_RATE = 0.05


def tiers(score: Floats, scale: Floats, *, overwrite: bool = False) -> Indices:
    """Return the tier of each model, from 1; all orders of tiers are true with 1 − ERROR_RATE.

    scale: standard errors of the differences, shape (models, models); overwrite: whether it may be destroyed.
    Sources: Berger (1982); Holm (1979).
    """
    # If a cut is wrong, then in the true order there are two neighbours of which the second one is above and the first
    # one below it, or two equal ones that it parts. Equal neighbours err in both directions, so each of models − 1
    # differences has a two-sided error beyond the bound: Bonferroni's inequality. True cuts take their neighbours away
    # (Holm).
    order = np.argsort(-score, kind="stable")
    if not (overwrite and (order[:-1] < order[1:]).all()):
        scale = scale[np.ix_(order, order)]
    strength = _cut_strengths(score[order], scale)
    is_cut = np.zeros(len(strength), dtype=bool)
    while not is_cut.all():
        bound = -ndtri(ERROR_RATE / 2 / np.count_nonzero(~is_cut))
        following = strength > bound
        if (following == is_cut).all():
            break
        is_cut = following
    tier = np.empty(len(score), dtype=np.int64)
    tier[order] = 1 + np.concatenate([[0], is_cut.cumsum()])[: len(score)]
    return tier


def _cut_strengths(score: Floats, scale: Floats) -> Floats:
    """Return the smallest distance, in standard errors, across each cut. The scale is overwritten."""
    distance = scale
    for rows in row_blocks(*scale.shape):
        block, error = score[rows, None] - score, scale[rows]
        block[error == 0] = 0
        np.divide(block, error, out=block, where=error > 0)
        distance[rows] = block
    for along in (distance[:, ::-1].T, distance):
        np.minimum.accumulate(along, axis=0, out=along)
    smallest: Floats = distance.diagonal(1)
    return smallest
