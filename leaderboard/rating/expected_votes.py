"""How a vote would fall if its voter were like everybody else: chances taken from other people's votes alone."""

import numpy as np
from scipy.sparse import csr_array
from scipy.special import expit

from leaderboard.rating.bradley_terry import Flags, Floats, Places
from leaderboard.rating.sampling import spread_of

LEFT, RIGHT, TIE = 0, 1, 2
# Of the four buttons two are a tie.
BUTTONS = np.array([0.25, 0.25, 0.5])
# One vote in a hundred is a slip of the finger, so that no single vote, however unlikely, says much.
SLIPS = 0.01
MOST_TIES = 0.9  # of those that would leave the weaker side no win at all
VOTERS_AT_ONCE = 4096


def chances_by_others(
    voter: Places, left: Places, right: Places, outcome: Places, *, theta: Floats, placed: Flags, kappa: float = 0.5
) -> Floats:
    """(votes, 3): each vote's chances of LEFT, RIGHT and TIE; NaN where a model is not placed.

    voter, left, right, outcome: shape (votes,), numbered from 0 and grouped by voter. theta: shape (models,), the fit
    to these votes; placed: shape (models,), whose θ can be relied on.

    One Newton step takes a voter's votes out of the fit, θ_others = θ − H⁻¹ Σ (y − p) x over these votes. Ties have the
    shape of the real table, t = ν · 4pq, with ν from the others' votes; what is left of p and q are wins.
    """
    share = np.array([1.0, 0.0, 0.5])[outcome]
    p = expit(theta[left] - theta[right])
    p = expit(theta[left] - theta[right] - _own_pull(voter, left, right, share - p, theta=theta, kappa=kappa))
    even = 4 * p * (1 - p)
    ties = np.minimum(_of_others(voter, outcome == TIE, even) * even, MOST_TIES * 2 * np.minimum(p, 1 - p))
    chances = np.column_stack([p - ties / 2, 1 - p - ties / 2, ties])
    chances += SLIPS * (BUTTONS - chances)
    chances[~(placed[left] & placed[right])] = np.nan
    return chances


def _own_pull(voter: Places, left: Places, right: Places, residual: Floats, *, theta: Floats, kappa: float) -> Floats:
    """By how much each vote's logit would move without all votes of its voter, shape (votes,)."""
    models, voters = len(theta), int(voter.max(initial=-1)) + 1
    cells = np.bincount(left * models + right, minlength=models**2).reshape(models, models)
    spread = spread_of(theta, (cells + cells.T).astype(np.float64), kappa=kappa)
    pull = csr_array(
        (np.append(residual, -residual), (np.append(voter, voter), np.append(left, right))), shape=(voters, models)
    )
    moved = np.zeros(len(voter))
    for first in range(0, voters, VOTERS_AT_ONCE):
        rows = slice(*np.searchsorted(voter, [first, first + VOTERS_AT_ONCE]))
        moves: Floats = pull[first : first + VOTERS_AT_ONCE].toarray() @ spread
        own = voter[rows] - first
        moved[rows] = moves[own, left[rows]] - moves[own, right[rows]]
    return moved


def _of_others(voter: Places, tied: Flags, even: Floats) -> Floats:
    """ν = Σ ties / Σ 4pq over everybody else's votes, for each vote."""
    own_ties, own_even = np.bincount(voter, tied), np.bincount(voter, even)
    others = (tied.sum() - own_ties) / np.maximum(even.sum() - own_even, 1e-9)
    scale: Floats = np.clip(others, 0, 1)[voter]
    return scale
