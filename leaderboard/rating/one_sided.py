"""One-sided bounds for models whose maximum-likelihood strength is infinite."""

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_expit

from leaderboard.rating.bradley_terry import Flags, Floats, reachable

_LOG_LEVEL = np.log(0.025)


def one_sided_bounds(wins: Floats, theta: Floats, *, anchor: Flags, free: Flags) -> tuple[Floats, Floats]:
    """Return (at_least, at_most), natural-log units, shape (models,): NaN where the strength is finite.

    wins[i, j]: wins of i over j, ties ½. A set of models that won every vote against the others is shifted by t to
    where such a record has a probability of 2.5 %: Σ W log σ(θ_winner + t − θ_loser) = ln 0.025; losing every vote is
    the mirror image. anchor: the set that others are measured against; a model connected to it in neither direction
    has −∞ and ∞.
    """
    won_all = free & (wins.sum(axis=0) == 0) & (wins.sum(axis=1) > 0)
    lost_all = free & (wins.sum(axis=1) == 0) & (wins.sum(axis=0) > 0)
    links, reference = wins > 0, int(np.argmax(anchor))
    is_unbounded_above = free & ~reachable(links, reference)
    is_unbounded_below = free & ~reachable(links.T, reference)
    is_unplaced = is_unbounded_above & is_unbounded_below & ~won_all & ~lost_all
    at_least, at_most = np.where(is_unplaced, -np.inf, np.nan), np.where(is_unplaced, np.inf, np.nan)
    for model in np.flatnonzero(won_all | (is_unbounded_above & ~is_unbounded_below)):
        at_least[model] = _lower_bound(int(model), wins, theta)
    for model in np.flatnonzero(lost_all | (is_unbounded_below & ~is_unbounded_above)):
        at_most[model] = -_lower_bound(int(model), wins.T, -theta)
    return at_least, at_most


def _lower_bound(model: int, wins: Floats, theta: Floats) -> float:
    winners = reachable(wins.T > 0, model)
    won = wins[np.ix_(winners, ~winners)]
    ahead = (theta[winners][:, None] - theta[~winners])[won > 0]
    won = won[won > 0]
    shift = brentq(
        lambda t: won @ log_expit(ahead + t) - _LOG_LEVEL, -ahead.max() - 10, -ahead.min() + 10 + np.log(won.sum())
    )
    return float(theta[model] + shift)
