"""Bradley–Terry strengths from pair counts, by exact maximum likelihood.

Notation as in docs/method.md: W[i, j] wins of i over j, T[i, j] ties between them (symmetric),
n = W + Wᵀ + T, S = W + T/2, p[i, j] = σ(θ[i] − θ[j]), q = 1 − p. θ is in natural-log units.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.csgraph import connected_components
from scipy.special import expit

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

POINTS = 400 / np.log(10)
CONVERGED = 1e-10
MOST_STEPS = 200


class NotConnected(ValueError):
    """The win graph is not strongly connected: the likelihood has no finite maximum."""


def maximum_likelihood(wins: Floats, ties: Floats) -> Floats:
    """θ maximising Σ S log p, mean zero. Raises NotConnected when there is no finite maximum."""
    share = wins + ties / 2
    if len(wins) == 0 or connected_components(share > 0, directed=True, connection="strong")[0] > 1:
        raise NotConnected
    everybody = np.ones(len(wins), dtype=bool)
    theta = newton(share, share + share.T, free=everybody, start=np.zeros(len(wins)), kappa=0)
    centred: Floats = theta - theta.mean()
    return centred


def newton(share: Floats, votes: Floats, *, free: Flags, start: Floats, kappa: float) -> Floats:
    """Move the free models to the maximum, the others stay. `votes` is n, symmetric.

    With nothing fixed and no virtual ties only differences matter; the all-ones direction is then added
    to the information, which fixes the mean.
    """
    theta = start.copy()
    own, inside = np.flatnonzero(free), np.ix_(free, free)
    only_differences = kappa == 0 and bool(free.all())
    for _ in range(MOST_STEPS):
        p = expit(theta[own, None] - theta)
        virtual = expit(theta[own])
        gradient = (share[own] - votes[own] * p).sum(axis=1) + kappa * (0.5 - virtual)
        weight = votes[own] * p * (1 - p)
        information = -weight[:, own]
        information[np.diag_indices_from(information)] += weight.sum(axis=1) + kappa * virtual * (1 - virtual)
        if only_differences:
            information += information.trace() / len(own) ** 2
        step = cho_solve(cho_factor(information), gradient)
        # A step that changes no difference by more than 1 always climbs (Bach 2010, self-concordant analysis).
        step /= max(1.0, np.ptp(np.append(step, 0.0)))
        theta[own] += step
        if np.abs(step).max() <= CONVERGED:
            return theta
    raise ArithmeticError(f"no convergence on {inside[0].size} models")


def win_chances(theta: Floats) -> Floats:
    """p, shape (M, M)."""
    chances: Floats = expit(theta[:, None] - theta)
    return chances


def laplacian(weight: Floats) -> Floats:
    """Σ over pairs of weight · (e_i − e_j)(e_i − e_j)ᵀ; weight symmetric with zero diagonal."""
    return np.diag(weight.sum(axis=1)) - weight


def inverse_on_contrasts(laplacian: Floats) -> Floats:
    """The pseudo-inverse: variances of θ − mean(θ)."""
    size = len(laplacian)
    level = laplacian.trace() / size**2 or 1.0
    return cho_solve(cho_factor(laplacian + level), np.eye(size)) - 1 / (level * size**2)
