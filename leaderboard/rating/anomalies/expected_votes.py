"""Outcome probabilities of each vote, from other voters' votes."""

import numpy as np
from scipy.sparse import csr_array
from scipy.special import expit

from leaderboard.rating.bradley_terry import Flags, Floats, Indices
from leaderboard.rating.sampling import inverse_information

LEFT, RIGHT, TIE = 0, 1, 2
# A random choice among the four buttons, of which two are a tie.
BUTTONS = np.array([0.25, 0.25, 0.5])
# Share of votes assumed to be random: it limits the evidence of a single unlikely vote.
SLIP_RATE = 0.01
MAX_TIES = 0.9  # of the tie rate at which the weaker side would never win
VOTER_BATCH = 4096


def held_out_probabilities(
    voter: Indices, left: Indices, right: Indices, outcome: Indices, *, theta: Floats, placed: Flags, kappa: float = 0.5
) -> Floats:
    """Return P(LEFT, RIGHT, TIE) of each vote, shape (votes, 3); NaN where a model is not placed.

    voter, left, right, outcome: shape (votes,), numbered from 0 and grouped by voter. theta: shape (models,), fitted to
    these votes; placed: shape (models,), True where θ is reliable.

    One Newton step removes a voter's votes from the fit: θ_others = θ − H⁻¹ Σ (y − p) x. Ties follow t = ν · 4pq, as in
    real arenas, with ν from the other voters.
    """
    share = np.array([1.0, 0.0, 0.5])[outcome]
    p = expit(theta[left] - theta[right])
    p = expit(theta[left] - theta[right] - _own_influence(voter, left, right, share - p, theta=theta, kappa=kappa))
    even = 4 * p * (1 - p)
    ties = np.minimum(_tie_rate_of_others(voter, outcome == TIE, even) * even, MAX_TIES * 2 * np.minimum(p, 1 - p))
    probabilities = np.column_stack([p - ties / 2, 1 - p - ties / 2, ties])
    probabilities += SLIP_RATE * (BUTTONS - probabilities)
    probabilities[~(placed[left] & placed[right])] = np.nan
    return probabilities


def _own_influence(
    voter: Indices, left: Indices, right: Indices, residual: Floats, *, theta: Floats, kappa: float
) -> Floats:
    """Return the effect of all votes of a vote's voter on its logit, shape (votes,)."""
    models, voters = len(theta), int(voter.max(initial=-1)) + 1
    cells = np.bincount(left * models + right, minlength=models**2).reshape(models, models)
    spread = inverse_information(theta, (cells + cells.T).astype(np.float64), kappa=kappa)
    scores = csr_array(
        (np.append(residual, -residual), (np.append(voter, voter), np.append(left, right))), shape=(voters, models)
    )
    influence = np.zeros(len(voter))
    for first in range(0, voters, VOTER_BATCH):
        rows = slice(*np.searchsorted(voter, [first, first + VOTER_BATCH]))
        theta_shift: Floats = scores[first : first + VOTER_BATCH].toarray() @ spread
        own = voter[rows] - first
        influence[rows] = theta_shift[own, left[rows]] - theta_shift[own, right[rows]]
    return influence


def _tie_rate_of_others(voter: Indices, tied: Flags, even: Floats) -> Floats:
    """Return ν = Σ ties / Σ 4pq over the other voters' votes, shape (votes,)."""
    own_ties, own_even = np.bincount(voter, tied), np.bincount(voter, even)
    others = (tied.sum() - own_ties) / np.maximum(even.sum() - own_even, 1e-9)
    scale: Floats = np.clip(others, 0, 1)[voter]
    return scale
