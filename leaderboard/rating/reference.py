"""Scores and standard errors as other libraries define them, for comparison."""

import numpy as np

from leaderboard.rating.bradley_terry import POINTS, Floats, Tally, inverse_on_contrasts, maximum_likelihood

# arena-rank 0.1 adds this per vote to the information's diagonal, "for numerical stability".
ARENA_RANK_RIDGE = 1e-5


def fit_reference(
    wins: Floats, ties: Floats, *, offset: float = 1000, ridge_per_vote: float = 0
) -> tuple[Floats, Floats]:
    """Return (scores, standard errors) in points, shape (M,): plain sandwich, no virtual ties, all models established.

    wins[i, j]: of i over j; ties: symmetric. The ridge changes the errors only, as in arena-rank. Raises NotConnected.
    """
    theta = maximum_likelihood(wins, ties)
    tally = Tally.from_wins(wins, ties)
    p = tally.win_probabilities(theta)
    information = tally.information(p)
    if ridge_per_vote:
        spread = np.linalg.inv(information + ridge_per_vote * tally.cells.sum() * np.eye(len(theta)))
    else:
        spread = inverse_on_contrasts(information)
    sandwich = spread @ tally.pairs.laplacian(tally.squared_residuals(p)) @ spread
    return offset + POINTS * theta, POINTS * np.sqrt(np.diag(sandwich))
