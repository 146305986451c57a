"""Scores and standard errors as other libraries define them, for recomputation against those."""

import numpy as np

from leaderboard.rating.bradley_terry import (
    POINTS,
    Floats,
    inverse_on_contrasts,
    laplacian,
    maximum_likelihood,
    win_chances,
)  # fmt: skip
from leaderboard.rating.intervals import squared_residuals


def fit_reference(wins: Floats, ties: Floats, *, offset: float = 1000) -> tuple[Floats, Floats]:
    """(scores, standard errors) in points as other libraries define them: plain sandwich, nothing virtual.

    Raises NotConnected.
    """
    theta = maximum_likelihood(wins, ties)
    votes = wins + wins.T + ties
    p = win_chances(theta)
    spread = inverse_on_contrasts(laplacian(votes * p * p.T))
    sandwich = spread @ laplacian(squared_residuals(wins, ties, p)) @ spread
    return offset + POINTS * theta, POINTS * np.sqrt(np.diag(sandwich))
