"""“At least” and “at most”: what can be said of models whose best fit has no finite place."""

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_expit

from leaderboard.rating.bradley_terry import Flags, Floats, reached

_CHANCE = np.log(0.025)


def open_ends(taken: Floats, theta: Floats, *, anchor: Flags, free: Flags) -> tuple[Floats, Floats]:
    """(at_least, at_most), natural-log units, shape (models,): NaN where that end is finite.

    taken[i, j]: what i took from j. Nobody outside took anything from a model that won everything, nor from a
    group that did (one model of it may have lost to another): its place has no upper end, and it is at least
    where such a record would have a chance of 2.5 %: Σ W log σ(θ_winner + t − θ_loser) = ln 0.025 over the votes
    with outsiders, t being the shift of all that nobody outside took from. Losing everything: the mirror.
    `anchor` is the group that the others are measured against. A model that the anchor can measure from neither
    side, though it neither won nor lost everything, has −∞ and ∞.
    """
    won_all = free & (taken.sum(axis=0) == 0) & (taken.sum(axis=1) > 0)
    lost_all = free & (taken.sum(axis=1) == 0) & (taken.sum(axis=0) > 0)
    links, somebody = taken > 0, int(np.argmax(anchor))
    no_top = free & ~reached(links, somebody)
    no_floor = free & ~reached(links.T, somebody)
    nowhere = no_top & no_floor & ~won_all & ~lost_all
    at_least, at_most = np.where(nowhere, -np.inf, np.nan), np.where(nowhere, np.inf, np.nan)
    for model in np.flatnonzero(won_all | (no_top & ~no_floor)):
        at_least[model] = _least(int(model), taken, theta)
    for model in np.flatnonzero(lost_all | (no_floor & ~no_top)):
        at_most[model] = -_least(int(model), taken.T, -theta)
    return at_least, at_most


def _least(model: int, taken: Floats, theta: Floats) -> float:
    above = reached(taken.T > 0, model)
    won = taken[np.ix_(above, ~above)]
    ahead = (theta[above][:, None] - theta[~above])[won > 0]
    won = won[won > 0]
    shift = brentq(
        lambda t: won @ log_expit(ahead + t) - _CHANCE, -ahead.max() - 10, -ahead.min() + 10 + np.log(won.sum())
    )
    return float(theta[model] + shift)
