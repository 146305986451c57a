"""Expected information gain of one more vote on each pair.

Source: sequential A-optimal design (Fedorov, "Theory of Optimal Experiments", 1972); for arenas, Chiang et al.,
"Chatbot Arena: An Open Platform for Evaluating LLMs by Human Preference" (2024), section 5.
"""

import numpy as np

from leaderboard.rating.bradley_terry import Floats, expected_shares, inverse
from leaderboard.rating.pairs import laplacian, quadratic_forms


def pair_gains(theta: Floats, votes: Floats, *, dispersion: float = 1.0, kappa: float = 0.5) -> Floats:
    """Return the decrease in the sum of variances by one more vote on (i, j); shape (M, M), natural-log units².

        w |H⁻¹ x|² / (1 + w xᵀ H⁻¹ x),    x = e_i − e_j,  w = φ p q,  H = Σ n p q x xᵀ

    theta: shape (M,), 0 without a score; votes: n of each pair, symmetric; dispersion: φ. `kappa` virtual ties of each
    model with an average opponent make H invertible. Positive off the diagonal, 0 on it.
    """
    spread = inverse_information(theta, votes, kappa=kappa)
    weight = dispersion * _outcome_variances(theta)
    gains: Floats = weight * quadratic_forms(spread @ spread) / (1 + weight * quadratic_forms(spread))
    np.fill_diagonal(gains, 0)
    return gains


def inverse_information(theta: Floats, votes: Floats, *, kappa: float = 0.5) -> Floats:
    information = laplacian(votes * _outcome_variances(theta)) + kappa / 4 * np.eye(len(theta))
    return inverse(information)


def _outcome_variances(theta: Floats) -> Floats:
    p = expected_shares(theta, theta)
    even: Floats = p * (1 - p)
    return even
