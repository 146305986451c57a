"""One fit of a whole board: established models among themselves, then the others beside them."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.csgraph import connected_components
from scipy.special import expit

from leaderboard.rating.bradley_terry import (
    POINTS,
    Flags,
    Floats,
    inverse_on_contrasts,
    laplacian,
    maximum_likelihood,
    newton,
    win_chances,
)  # fmt: skip
from leaderboard.rating.intervals import Z, covariances, larger_variance, open_the_far_end


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
        p = win_chances(theta[established])
        spread = inverse_on_contrasts(laplacian(votes[among] * p * p.T))
        known[0][among], known[1][among] = covariances(wins[among], ties[among], p, spread)
        variance = larger_variance(known)
    free = ~established & (counts > 0)
    if free.any():
        theta = newton(wins + ties / 2, votes, free=free, start=theta, kappa=kappa)
        p = win_chances(theta)
        spread = _spread_beside(votes * p * p.T, theta, free=free, kappa=kappa)
        if not established.any():  # only differences are known: without this, the level's doubt would be everyone's
            centring = np.diag(free.astype(np.float64)) - np.outer(free, free) / free.sum()
            theta, spread = centring @ theta, centring @ spread @ centring
        moves = spread @ (votes * p * p.T)  # how a free score follows the established ones
        variance = np.where(
            free,
            larger_variance(covariances(wins, ties, p, spread))
            + larger_variance((moves @ known[0] @ moves.T, moves @ known[1] @ moves.T)),
            variance,
        )
    half = Z * np.sqrt(variance)
    low, high = theta - half, theta + half
    for model in map(int, np.flatnonzero(free)):
        open_the_far_end(model, wins, votes, theta, low, high)
    unlisted = np.where(listed, 0.0, np.nan)
    return Board(
        score=offset + POINTS * theta + unlisted,
        low=offset + POINTS * low + unlisted,
        high=offset + POINTS * high + unlisted,
        listed=listed,
        established=established,
    )


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


def _spread_beside(information: Floats, theta: Floats, *, free: Flags, kappa: float) -> Floats:
    """Inverse information of the free models, shape (M, M); a fixed opponent's rows and columns are zero."""
    own = np.ix_(free, free)
    virtual = expit(theta[free])
    within = laplacian(information)[own] + np.diag(kappa * virtual * (1 - virtual))
    spread = np.zeros_like(information)
    spread[own] = cho_solve(cho_factor(within), np.eye(len(within)))
    return spread
