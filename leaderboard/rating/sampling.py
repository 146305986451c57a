"""How much another vote on each pair would teach: where the next battles serve the board best.

Source: sequential A-optimal design (Fedorov, "Theory of Optimal Experiments", 1972); for arenas, Chiang et al.,
"Chatbot Arena: An Open Platform for Evaluating LLMs by Human Preference" (2024), section 5.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from leaderboard.rating.bradley_terry import Floats, laplacian


def pair_gains(theta: Floats, votes: Floats, *, dispersion: float = 1.0, kappa: float = 0.5) -> Floats:
    """By how much one more vote on (i, j) lowers the sum of all models' variances; shape (M, M), natural-log units².

        w |H⁻¹ x|² / (1 + w xᵀ H⁻¹ x),    x = e_i − e_j,  w = φ p q,  H = Σ n p q x xᵀ

    theta: shape (M,), 0 for a model without a score; votes: n of each pair, symmetric; dispersion: φ, as in the
    intervals. Every model has `kappa` virtual ties with an average opponent, so that H has an inverse while
    models have no votes and groups have not met. Symmetric, above 0 off the diagonal and 0 on it, and the same when
    all models' θ change sign: who would win plays no part.
    """
    spread = spread_of(theta, votes, kappa=kappa)
    weight = dispersion * _evenness(theta)
    gains: Floats = weight * _of_differences(spread @ spread) / (1 + weight * _of_differences(spread))
    np.fill_diagonal(gains, 0)
    return gains


def spread_of(theta: Floats, votes: Floats, *, kappa: float = 0.5) -> Floats:
    """H⁻¹, shape (M, M), with `kappa` virtual ties for everybody."""
    information = laplacian(votes * _evenness(theta)) + kappa / 4 * np.eye(len(theta))
    return cho_solve(cho_factor(information), np.eye(len(theta)))


def _evenness(theta: Floats) -> Floats:
    """p q of every pair, shape (M, M)."""
    p = expit(theta[:, None] - theta)
    even: Floats = p * (1 - p)
    return even


def _of_differences(matrix: Floats) -> Floats:
    """xᵀ A x for every pair, shape (M, M)."""
    own = np.diag(matrix)
    return own[:, None] + own - 2 * matrix
