"""Grounded Rao–Kupper model of votes with four outcomes.

With b = e^θ, η ≥ 1 and S = 1 + b_i + b_j: P(i wins) = b_i / (b_i + η b_j + 1), P(j wins) alike, P(both bad) = 1 / S,
P(tie) is the rest. σ(θ_i) is the chance that i alone is good enough. η = 1 + e^κ.
Sources: Rao and Kupper (1967), "Ties in paired-comparison experiments"; Frick et al. (2025), "Prompt-to-Leaderboard".
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

LEFT, RIGHT, TIE, BOTH_BAD = range(4)
OUTCOMES = ("left", "right", "tie", "both_bad")
_MAX_THETA = 30.0
_MIN_CHANCE = 1e-12


class Terms(NamedTuple):
    """e^θ of both sides, and the denominators: of a left win, of a right win, of both bad."""

    left: Floats
    right: Floats
    left_win: Floats
    right_win: Floats
    both_bad: Floats


def terms(theta_left: Floats, theta_right: Floats, tie_factor: float) -> Terms:
    b, c = np.exp(np.clip(theta_left, -_MAX_THETA, _MAX_THETA)), np.exp(np.clip(theta_right, -_MAX_THETA, _MAX_THETA))
    return Terms(b, c, b + tie_factor * c + 1, c + tie_factor * b + 1, b + c + 1)


def probabilities(theta_left: Floats, theta_right: Floats, tie_factor: float) -> Floats:
    """Return the chances of OUTCOMES, shape (4, …)."""
    t = terms(theta_left, theta_right, tie_factor)
    tie = (tie_factor - 1) * t.left * t.right / t.both_bad * (1 / t.left_win + 1 / t.right_win)
    return np.stack([t.left / t.left_win, t.right / t.right_win, tie, 1 / t.both_bad])


def win_chance(theta: Floats, theta_other: Floats, tie_factor: float) -> Floats:
    """Return the chance of being better; ties and both bad count half."""
    t = terms(theta, theta_other, tie_factor)
    chances: Floats = 0.5 * (1 + t.left / t.left_win - t.right / t.right_win)
    return chances


def log_losses(theta_left: Floats, theta_right: Floats, outcome: Indices, tie_factor: float) -> Floats:
    """Return −log likelihood of each vote, shape (votes,)."""
    chances = probabilities(theta_left, theta_right, tie_factor)
    losses: Floats = -np.log(np.maximum(chances[outcome, np.arange(len(outcome))], _MIN_CHANCE))
    return losses


class Loss(NamedTuple):
    """Weighted −log likelihood, with its gradient by each vote's θ of both sides and by κ."""

    value: float
    left: Floats
    right: Floats
    kappa: float


def loss(theta_left: Floats, theta_right: Floats, outcome: Indices, weight: Floats, kappa: float) -> Loss:
    """outcome: index in OUTCOMES; all arrays of shape (votes,)."""
    excess = np.exp(kappa)
    eta = 1 + excess
    t = terms(theta_left, theta_right, eta)
    both = t.left_win + t.right_win
    is_left, is_right, is_tie, is_bad = (outcome == number for number in range(4))
    value = (
        np.where(is_left | is_tie, theta_left, 0)
        + np.where(is_right | is_tie, theta_right, 0)
        - np.where(is_left | is_tie, np.log(t.left_win), 0)
        - np.where(is_right | is_tie, np.log(t.right_win), 0)
        - np.where(is_bad | is_tie, np.log(t.both_bad), 0)
        + np.where(is_tie, kappa + np.log(both), 0)
    )
    # How often each logarithm occurs, divided by its argument.
    on_left, on_right = (is_left | is_tie) / t.left_win, (is_right | is_tie) / t.right_win
    on_bad, on_both = (is_bad | is_tie) / t.both_bad, is_tie * (1 + eta) / both
    left = (is_left | is_tie) - t.left * (on_left + eta * on_right + on_bad - on_both)
    right = (is_right | is_tie) - t.right * (eta * on_left + on_right + on_bad - on_both)
    by_eta = is_tie * (1 / excess + (t.left + t.right) / both) - t.right * on_left - t.left * on_right
    return Loss(-float(weight @ value), -weight * left, -weight * right, -float(weight @ by_eta) * excess)


class Information(NamedTuple):
    """Expected information of each vote about the two θ."""

    left: Floats
    right: Floats
    both: Floats


def information(theta_left: Floats, theta_right: Floats, weight: Floats, kappa: float) -> Information:
    chances = probabilities(theta_left, theta_right, 1 + np.exp(kappa))
    left, right, both = (np.zeros_like(weight) for _ in range(3))
    for number, chance in enumerate(chances):
        score = loss(theta_left, theta_right, np.full(len(weight), number), np.ones_like(weight), kappa)
        left += chance * score.left**2
        right += chance * score.right**2
        both += chance * score.left * score.right
    return Information(weight * left, weight * right, weight * both)
