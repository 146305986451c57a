"""Scores from pair counts: Bradley–Terry by exact maximum likelihood, with intervals that do not flatter.

Notation as in docs/method.md: W[i, j] wins of i over j, T[i, j] ties between them (symmetric),
n = W + Wᵀ + T, S = W + T/2, p[i, j] = σ(θ[i] − θ[j]), q = 1 − p. θ is in natural-log units.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import brentq
from scipy.sparse.csgraph import connected_components
from scipy.special import expit, log_expit

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

POINTS = 400 / np.log(10)
Z = 1.959963984540054  # two-sided 95 %
CONVERGED = 1e-10
MOST_STEPS = 200


class NotConnected(ValueError):
    """The win graph is not strongly connected: the likelihood has no finite maximum."""


@dataclass(frozen=True)
class Board:
    """One fit of a board; every array has shape (models,), scores and bounds are in points.

    A model below the listing threshold has NaN. One that won (lost) everything has no upper (lower)
    bound: ±inf; its score is then only what the virtual ties make of it, and the other bound is what to show.
    """

    score: Floats
    low: Floats
    high: Floats
    listed: Flags
    established: Flags

    @property
    def preliminary(self) -> Flags:
        return ~self.established


def fit_board(
    wins: Floats,
    ties: Floats,
    *,
    listed_from: int = 5,
    established_from: int = 30,
    kappa: float = 0.5,
    offset: float = 1500,
) -> Board:
    """Established models by maximum likelihood among themselves; then the others, with those held fixed.

    wins, ties: shape (M, M), W and T. `kappa` virtual ties with an average opponent keep a preliminary
    model's score finite. Nothing a preliminary model does moves an established score.
    """
    votes = wins + wins.T + ties
    counts = votes.sum(axis=1)
    established = established_models(wins, ties, at_least=established_from)
    listed = (counts >= listed_from) | established
    theta, variance = np.zeros(len(wins)), np.zeros(len(wins))
    known = (np.zeros_like(votes), np.zeros_like(votes))
    among = np.ix_(established, established)
    if established.any():
        theta[established] = maximum_likelihood(wins[among], ties[among])
        p = _win_chances(theta[established])
        spread = _inverse_on_contrasts(_laplacian(votes[among] * p * p.T))
        known[0][among], known[1][among] = _covariances(wins[among], ties[among], p, spread)
        variance = _larger_variance(known)
    free = ~established & (counts > 0)
    if free.any():
        theta = _newton(wins + ties / 2, votes, free=free, start=theta, kappa=kappa)
        p = _win_chances(theta)
        spread = _spread_beside(votes * p * p.T, theta, free=free, kappa=kappa)
        if not established.any():  # only differences are known: without this, the level's doubt would be everyone's
            centring = np.diag(free.astype(np.float64)) - np.outer(free, free) / free.sum()
            theta, spread = centring @ theta, centring @ spread @ centring
        moves = spread @ (votes * p * p.T)  # how a free score follows the established ones
        variance = np.where(
            free,
            _larger_variance(_covariances(wins, ties, p, spread))
            + _larger_variance((moves @ known[0] @ moves.T, moves @ known[1] @ moves.T)),
            variance,
        )
    half = Z * np.sqrt(variance)
    low, high = theta - half, theta + half
    for model in map(int, np.flatnonzero(free)):
        _open_the_far_end(model, wins, votes, theta, low, high)
    unlisted = np.where(listed, 0.0, np.nan)
    return Board(
        score=offset + POINTS * theta + unlisted,
        low=offset + POINTS * low + unlisted,
        high=offset + POINTS * high + unlisted,
        listed=listed,
        established=established,
    )


def fit_reference(wins: Floats, ties: Floats, *, offset: float = 1000) -> tuple[Floats, Floats]:
    """(scores, standard errors) in points as other libraries define them: plain sandwich, nothing virtual.

    Raises NotConnected.
    """
    theta = maximum_likelihood(wins, ties)
    votes = wins + wins.T + ties
    p = _win_chances(theta)
    spread = _inverse_on_contrasts(_laplacian(votes * p * p.T))
    sandwich = spread @ _laplacian(_squared_residuals(wins, ties, p)) @ spread
    return offset + POINTS * theta, POINTS * np.sqrt(np.diag(sandwich))


def established_models(wins: Floats, ties: Floats, *, at_least: int) -> Flags:
    """The largest group in which everybody has `at_least` votes and can be reached from everybody.

    Votes are counted inside the group and an edge is "i took something from j" inside the group, so that
    leaving out one model can cost another its place: repeated until nobody leaves. Groups of equal size:
    the one with more votes.
    """
    votes, took = wins + wins.T + ties, wins + ties / 2 > 0
    group = np.ones(len(wins), dtype=bool)
    while group.any():
        inside = np.ix_(group, group)
        kept = votes[inside].sum(axis=1) >= at_least
        _, label = connected_components(took[inside], directed=True, connection="strong")
        sizes = np.bincount(label)
        weight = np.bincount(label, weights=votes[inside].sum(axis=1))
        largest = max(range(len(sizes)), key=lambda one: (sizes[one], weight[one]))
        if kept.all() and len(sizes) == 1:
            break
        # Few votes first: a crowd of newcomers that beat each other must not outnumber the established.
        stays = kept if not kept.all() else label == largest
        group[np.flatnonzero(group)[~stays]] = False
    return group if group.sum() > 1 else np.zeros_like(group)


def maximum_likelihood(wins: Floats, ties: Floats) -> Floats:
    """θ maximising Σ S log p, mean zero. Raises NotConnected when there is no finite maximum."""
    share = wins + ties / 2
    if len(wins) == 0 or connected_components(share > 0, directed=True, connection="strong")[0] > 1:
        raise NotConnected
    everybody = np.ones(len(wins), dtype=bool)
    theta = _newton(share, share + share.T, free=everybody, start=np.zeros(len(wins)), kappa=0)
    centred: Floats = theta - theta.mean()
    return centred


def _newton(share: Floats, votes: Floats, *, free: Flags, start: Floats, kappa: float) -> Floats:
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


def _spread_beside(information: Floats, theta: Floats, *, free: Flags, kappa: float) -> Floats:
    """Inverse information of the free models, shape (M, M); a fixed opponent's rows and columns are zero."""
    own = np.ix_(free, free)
    virtual = expit(theta[free])
    within = _laplacian(information)[own] + np.diag(kappa * virtual * (1 - virtual))
    spread = np.zeros_like(information)
    spread[own] = cho_solve(cho_factor(within), np.eye(len(within)))
    return spread


def _covariances(wins: Floats, ties: Floats, p: Floats, spread: Floats) -> tuple[Floats, Floats]:
    """HC3's, and φ times the inverse information `spread`. The larger variance of the two is believed."""
    information = (wins + wins.T + ties) * p * p.T
    residuals = _squared_residuals(wins, ties, p)
    leverage = p * p.T * (np.diag(spread)[:, None] + np.diag(spread) - 2 * spread)
    # A vote that alone decides a score has h = 1 and no residual: 0 / tiny is 0.
    robust = spread @ _laplacian(residuals / np.maximum(1 - leverage, 1e-6) ** 2) @ spread
    # φ ≤ 1: ties spread outcomes less than coins do. One imaginary decisive vote keeps it above zero.
    dispersion = min(1.0, (residuals.sum() / 2 + 0.25) / (information.sum() / 2 + 0.25))
    return robust, dispersion * spread


def _larger_variance(covariances: tuple[Floats, Floats]) -> Floats:
    return np.maximum(np.diag(covariances[0]), np.diag(covariances[1]))


def _open_the_far_end(model: int, wins: Floats, votes: Floats, theta: Floats, low: Floats, high: Floats) -> None:
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


def _win_chances(theta: Floats) -> Floats:
    """p, shape (M, M)."""
    chances: Floats = expit(theta[:, None] - theta)
    return chances


def _squared_residuals(wins: Floats, ties: Floats, p: Floats) -> Floats:
    """v[i, j] = Σ (y − p)² over the pair's votes, exactly, from its counts."""
    return wins * p.T**2 + wins.T * p**2 + ties * (0.5 - p) ** 2


def _laplacian(weight: Floats) -> Floats:
    """Σ over pairs of weight · (e_i − e_j)(e_i − e_j)ᵀ; weight symmetric with zero diagonal."""
    return np.diag(weight.sum(axis=1)) - weight


def _inverse_on_contrasts(laplacian: Floats) -> Floats:
    """The pseudo-inverse: variances of θ − mean(θ)."""
    size = len(laplacian)
    level = laplacian.trace() / size**2 or 1.0
    return cho_solve(cho_factor(laplacian + level), np.eye(size)) - 1 / (level * size**2)
