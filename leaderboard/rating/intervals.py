"""How uncertain strengths are: sandwich covariances from pair counts, and bounds of one-sided records."""

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_expit

from leaderboard.rating.bradley_terry import Floats, laplacian

Z = 1.959963984540054  # two-sided 95 %


def covariances(wins: Floats, ties: Floats, p: Floats, spread: Floats) -> tuple[Floats, Floats]:
    """HC3's, and φ times the inverse information `spread`. The larger variance of the two is believed."""
    information = (wins + wins.T + ties) * p * p.T
    residuals = squared_residuals(wins, ties, p)
    leverage = p * p.T * (np.diag(spread)[:, None] + np.diag(spread) - 2 * spread)
    # A vote that alone decides a score has h = 1 and no residual: 0 / tiny is 0.
    robust = spread @ laplacian(residuals / np.maximum(1 - leverage, 1e-6) ** 2) @ spread
    # φ ≤ 1: ties spread outcomes less than coins do. One imaginary decisive vote keeps it above zero.
    dispersion = min(1.0, (residuals.sum() / 2 + 0.25) / (information.sum() / 2 + 0.25))
    return robust, dispersion * spread


def larger_variance(covariances: tuple[Floats, Floats]) -> Floats:
    return np.maximum(np.diag(covariances[0]), np.diag(covariances[1]))


def open_the_far_end(model: int, wins: Floats, votes: Floats, theta: Floats, low: Floats, high: Floats) -> None:
    """Won everything: at least t, where Σ log σ(t − θ_opponent) = ln 0.025, and no upper bound; lost: the mirror."""
    for won, sign in ((wins[model], 1), (wins[:, model], -1)):
        if (won == votes[model]).all():
            opponents = sign * theta
            bound = sign * brentq(
                lambda t, won=won, opponents=opponents: won @ log_expit(t - opponents) - np.log(0.025),
                opponents[won > 0].min() - 10,
                opponents[won > 0].max() + 10 + np.log(won.sum()),
            )
            low[model], high[model] = (bound, np.inf) if sign == 1 else (-np.inf, bound)


def squared_residuals(wins: Floats, ties: Floats, p: Floats) -> Floats:
    """v[i, j] = Σ (y − p)² over the pair's votes, exactly, from its counts."""
    return wins * p.T**2 + wins.T * p**2 + ties * (0.5 - p) ** 2
