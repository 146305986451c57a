"""Concentration of voters' recent votes on single models, and the shift of all other votes with a model."""

import numpy as np
from scipy.special import expit, logsumexp

from leaderboard.rating.anomalies.earlier_fits import Votes
from leaderboard.rating.anomalies.expected_votes import Expectation
from leaderboard.rating.bradley_terry import Flags, Floats

# Shares of a voter's votes that are sought rather than drawn.
SOUGHT = np.array([0.95, 0.5, 0.2])
# Sd of a change of a model's strength between the fit and the window, in natural-log units.
SHIFT = 0.1
NEWTON_STEPS = 4
MAX_DRAWN = 0.9


def usual_shares(earlier: Votes, *, models: int) -> Floats:
    """Return the share of votes with each model, shape (models,)."""
    number = np.bincount(np.append(earlier.left, earlier.right), minlength=models)
    shares: Floats = (number + 1) / (len(earlier) + models)
    return np.minimum(shares, MAX_DRAWN)


def concentration(votes: Votes, usual: Floats) -> Floats:
    """Return ln of the likelihood ratio of sought to drawn battles per vote and side, shape (votes, 2)."""
    # The ratio depends on which battles a voter voted on, never on the votes, so an e-process of votes that are chosen
    # by it stays valid. A drawn share is at least the mean of the voter's other models: people may limit the draw to a
    # few models.
    voter = np.unique(votes.voter, return_inverse=True)[1]
    every = np.bincount(voter)
    models = len(usual)
    pairs = np.append(voter * models + votes.left, voter * models + votes.right)
    keys, entry, number = np.unique(pairs, return_inverse=True, return_counts=True)
    who, model = np.divmod(keys, models)
    others = (2 * every[who] - number) / (every[who] * (np.bincount(who)[who] - 1))
    drawn = np.clip(others, usual[model], MAX_DRAWN)[:, None]
    own, rest = number[:, None], (every[who] - number)[:, None]
    log_ratio = own * np.log(SOUGHT / drawn + 1 - SOUGHT) + rest * np.log1p(-SOUGHT)
    ratios: Floats = (logsumexp(log_ratio, axis=1) - np.log(len(SOUGHT)))[entry].reshape(2, -1).T
    return ratios


def shifts(votes: Votes, expectation: Expectation, errors: Floats, counted: Flags) -> tuple[Floats, Floats]:
    """Return (mean, sd) of each model's change of strength by the entries in `counted`, shape (votes, 2).

    errors: of θ, shape (models,).
    """
    models, known = len(errors), np.isfinite(expectation.logit)
    prior = 1 / (SHIFT**2 + np.where(np.isfinite(errors), errors, 0) ** 2)
    mean, information = np.zeros(models), prior
    own, side = np.nonzero(counted & known[:, None])
    sign = np.where(side == 0, 1.0, -1.0)
    model = np.where(side == 0, votes.left[own], votes.right[own])
    won = np.where(side == 0, votes.share[own], 1 - votes.share[own])
    for _ in range(NEWTON_STEPS):
        p = expit(sign * expectation.logit[own] + mean[model])
        information = prior + np.bincount(model, p * (1 - p), models)
        mean = mean + (np.bincount(model, won - p, models) - prior * mean) / information
    return mean, 1 / np.sqrt(information)
