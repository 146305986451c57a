"""Bradley–Terry strengths from pair counts, by exact maximum likelihood.

Notation as in docs/method.md: θ strengths in natural-log units, β the head start of the row's seat,
p[i, j] = σ(θ[i] − θ[j] + β) the share expected by the row, q = 1 − p, n all votes of a cell.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.csgraph import connected_components
from scipy.special import expit

from leaderboard.rating.elo import SCALE

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Places = NDArray[np.int64]

POINTS = SCALE / np.log(10)
CONVERGED = 1e-10
# A step this small leaves an error of its square: Newton's method, and third derivatives below the second.
LAST_STEP = 1e-6
MOST_STEPS = 200


class NotConnected(ValueError):
    """The win graph is not strongly connected: the likelihood has no finite maximum."""


@dataclass(frozen=True)
class Tally:
    """Votes as counts, shape (models, models) each; every vote is in one cell of one of the three.

    won[i, j]: the row took it; lost[i, j]: the column did; tied[i, j]: a tie of either kind. Where seats matter
    the row sat left, and `bias` is β. Where they do not, a vote may be in [i, j] or mirrored in [j, i].
    """

    won: Floats
    lost: Floats
    tied: Floats
    bias: float = 0.0

    @classmethod
    def without_seats(cls, wins: Floats, ties: Floats) -> Self:
        """From wins[i, j] of i over j, and ties, symmetric."""
        return cls(won=wins, lost=np.zeros_like(wins), tied=np.triu(ties))

    @classmethod
    def of_seats(cls, counts: Floats, *, bias: float = 0.0) -> Self:
        """From counts[outcome, left, right]; outcomes: left won, right won, tie, both bad."""
        return cls(won=counts[0], lost=counts[1], tied=counts[2] + counts[3], bias=bias)

    @cached_property
    def cells(self) -> Floats:
        return self.won + self.lost + self.tied

    @cached_property
    def votes(self) -> Floats:
        """n of each pair, symmetric."""
        return mirrored(self.cells)

    @cached_property
    def taken(self) -> Floats:
        """S[i, j]: what i took from j, a tie being half a win."""
        share: Floats = self.won + self.lost.T + mirrored(self.tied) / 2
        return share

    def among(self, models: Flags | Places) -> Self:
        inside = np.ix_(models, models)
        return type(self)(self.won[inside], self.lost[inside], self.tied[inside], self.bias)

    def chances(self, theta: Floats) -> Floats:
        """p, shape (models, models)."""
        p: Floats = expit(theta[:, None] - theta + self.bias)
        return p

    def information(self, p: Floats) -> Floats:
        """n·p·q of each pair, symmetric."""
        return mirrored(self.cells * p * (1 - p))

    def squared_residuals(self, p: Floats) -> Floats:
        """v = Σ (y − p)² over a cell's votes, exactly, from its counts."""
        squares: Floats = self.won * (1 - p) ** 2 + self.lost * p**2 + self.tied * (0.5 - p) ** 2
        return squares


def maximum_likelihood(wins: Floats, ties: Floats) -> Floats:
    """θ maximising Σ S log p, mean zero, from wins[i, j] of i over j and ties, symmetric. Raises NotConnected."""
    tally = Tally.without_seats(wins, ties)
    if len(wins) == 0 or strong_pieces(tally.taken).any():
        raise NotConnected
    return likeliest(tally)


def likeliest(tally: Tally, *, start: Floats | None = None) -> Floats:
    """θ of maximum likelihood, mean zero, of models known to be strongly connected; `start` shortens the way."""
    size = len(tally.won)
    begin = np.zeros(size) if start is None else start
    theta = climb(tally, free=np.ones(size, dtype=bool), start=begin, kappa=0)
    centred: Floats = theta - theta.mean()
    return centred


def climb(tally: Tally, *, free: Flags, start: Floats, kappa: float) -> Floats:
    """Newton's method: move the free models to the maximum, the others stay.

    `kappa` virtual ties with an average opponent hold each free model. With nothing fixed and nothing virtual
    only differences matter; the all-ones direction is then added to the information, which fixes the mean.
    """
    theta = start.copy()
    own, size = np.flatnonzero(free), int(free.sum())
    only_differences = kappa == 0 and bool(free.all())
    points = tally.taken[own].sum(axis=1)
    cells = tally.cells
    # Seen from a free model: all its votes at once, or those on the row's seat and those on the column's.
    seats = ((cells[own], tally.bias), (cells.T[own], -tally.bias)) if tally.bias else ((tally.votes[own], 0.0),)
    for _ in range(MOST_STEPS):
        virtual = expit(theta[own])
        gradient = points + kappa * (0.5 - virtual)
        information = np.zeros((size, len(theta)))
        for n, bias in seats:
            p = expit(theta[own, None] - theta + bias)
            expected = n * p
            gradient -= expected.sum(axis=1)
            expected *= p - 1
            information += expected
        diagonal = kappa * virtual * (1 - virtual) - information.sum(axis=1)
        information = information[:, own]
        information[np.diag_indices(size)] += diagonal
        if only_differences:
            information += information.trace() / size**2
        factor = cho_factor(information, overwrite_a=True, check_finite=False)
        step = cho_solve(factor, gradient, check_finite=False)
        # A step that changes no difference by more than 1 always climbs (Bach 2010, self-concordant analysis).
        step /= max(1.0, np.ptp(np.append(step, 0.0)))
        theta[own] += step
        if np.abs(step).max() <= LAST_STEP:
            return theta
    raise ArithmeticError(f"no convergence on {size} models")


def mirrored(cells: Floats) -> Floats:
    """Each pair's sum over its two cells, symmetric."""
    both: Floats = cells + cells.T
    return both


def reached(links: Flags, start: int) -> Flags:
    """Everybody to whom links[i, j] lead from `start`, itself included."""
    now, before = np.zeros(len(links), dtype=bool), 0
    now[start] = True
    while now.sum() > before:
        before = now.sum()
        now |= links[now].any(axis=0)
    return now


def strong_pieces(taken: Floats) -> Places:
    """The number, from 0, of each one's piece: in a piece everybody can be reached from everybody along `taken`."""
    links = taken > 0
    if len(links) and reached(links, 0).all() and reached(links.T, 0).all():  # nearly always, and much quicker
        return np.zeros(len(links), dtype=np.int64)
    _, piece = connected_components(links, directed=True, connection="strong")
    return piece.astype(np.int64)


def laplacian(weight: Floats) -> Floats:
    """Σ over pairs of weight · (e_i − e_j)(e_i − e_j)ᵀ; weight symmetric with zero diagonal."""
    return np.diag(weight.sum(axis=1)) - weight


def inverse_on_contrasts(information: Floats) -> Floats:
    """The pseudo-inverse of a connected Laplacian: variances of θ − mean(θ)."""
    size = len(information)
    level = information.trace() / size**2 or 1.0
    return cho_solve(cho_factor(information + level), np.eye(size)) - 1 / (level * size**2)
