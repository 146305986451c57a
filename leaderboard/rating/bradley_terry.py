"""Bradley–Terry strengths from pair counts, by exact maximum likelihood.

Notation as in docs/method.md: θ strengths in natural-log units, β the side bias in favour of the row,
p[i, j] = σ(θ[i] − θ[j] + β) the expected share of the row, q = 1 − p, n the votes of a cell.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dpotri
from scipy.sparse.csgraph import connected_components
from scipy.special import expit, logit

from leaderboard.rating.elo import SCALE

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Indices = NDArray[np.int64]

POINTS = SCALE / np.log(10)
CONVERGED = 1e-10
# Newton's method converges quadratically: a step this small leaves an error of about its square.
STEP_TOLERANCE = 1e-6
MAX_STEPS = 200
# Natural-log units: strengths that changed by less leave the information about the same.
_SAME_INFORMATION = 0.01
_MAX_EXPONENT = 300.0


class NotConnected(ValueError):
    """The win graph is not strongly connected: no finite maximum."""


class Start(NamedTuple):
    """Strengths to start from, or with the rest, a result without bias."""

    theta: Floats
    p: Floats | None = None
    spread: Floats | None = None  # inverse information on contrasts


@dataclass(frozen=True)
class Tally:
    """Vote counts, shape (models, models); every vote is in one cell of one of the three.

    won[i, j]: the row won; lost[i, j]: the column won; tied[i, j]: a tie of either kind. Where sides matter,
    the row is the left model and `bias` is β; otherwise a vote may be in [i, j] or in [j, i].
    """

    won: Floats
    lost: Floats
    tied: Floats
    bias: float = 0.0

    @classmethod
    def from_wins(cls, wins: Floats, ties: Floats) -> Self:
        """Build from wins[i, j] of i over j and symmetric ties."""
        return cls(won=wins, lost=np.zeros_like(wins), tied=np.triu(ties))

    @classmethod
    def from_side_counts(cls, counts: Floats | Indices, *, bias: float = 0.0) -> Self:
        """Build from counts[outcome, left, right]; outcomes: left won, right won, tie, both bad."""
        won, lost = (side.astype(np.float64, copy=False) for side in counts[:2])
        return cls(won, lost, tied=(counts[2] + counts[3]).astype(np.float64, copy=False), bias=bias)

    @cached_property
    def cells(self) -> Floats:
        return self.won + self.lost + self.tied

    @cached_property
    def votes(self) -> Floats:
        return symmetrized(self.cells)

    @cached_property
    def effective_wins(self) -> Floats:
        """S[i, j]: wins of i over j, a tie counts ½."""
        share: Floats = self.tied / 2
        share = symmetrized(share)
        share += self.won
        share += self.lost.T
        return share

    def subset(self, models: Flags | Indices) -> Self:
        """Return the tally among `models`, a mask or ascending indices."""
        if (models.sum() if models.dtype == bool else len(models)) == len(self.won):
            return self  # with what it has cached
        inside = np.ix_(models, models)
        return type(self)(self.won[inside], self.lost[inside], self.tied[inside], self.bias)

    def win_probabilities(self, theta: Floats) -> Floats:
        return expected_shares(theta, theta, bias=self.bias)

    def information(self, p: Floats) -> Floats:
        """n·p·q of each pair, symmetric."""
        return symmetrized(self.expected_squares(p))

    def expected_squares(self, p: Floats) -> Floats:
        """n·p·q of each cell."""
        weight: Floats = 1 - p
        weight *= p
        weight *= self.cells
        return weight

    def squared_residuals(self, p: Floats) -> Floats:
        """Σ (y − p)² over each cell's votes, exact."""
        squares = np.zeros_like(p)
        for n, share in ((self.won, 1.0), (self.lost, 0.0), (self.tied, 0.5)):
            residual = share - p
            residual *= residual
            squares += np.multiply(residual, n, out=residual)
        return squares


def maximum_likelihood(wins: Floats, ties: Floats) -> Floats:
    """Return the θ that maximizes Σ S log p, mean 0.

    wins[i, j]: of i over j; ties: symmetric. Raises NotConnected.
    """
    tally = Tally.from_wins(wins, ties)
    if len(wins) == 0 or strong_components(tally.effective_wins).any():
        raise NotConnected
    return fit_strengths(tally)


def fit_strengths(tally: Tally, *, start: Floats | None = None) -> Floats:
    """Return maximum-likelihood θ, mean 0. The models must be strongly connected."""
    begin = _rough_strengths(tally) if start is None else start
    theta = maximize(tally, free=np.ones(len(begin), dtype=bool), start=begin, kappa=0)
    centred: Floats = theta - theta.mean()
    return centred


def maximize(tally: Tally, *, free: Flags, start: Floats, kappa: float) -> Floats:
    """Return θ after Newton's method over the free models; the others stay fixed.

    Each free model has `kappa` virtual ties with an average opponent. With all free and kappa = 0, only differences
    are identified: the all-ones direction is added to the information, which fixes the mean.
    """
    theta = start.copy()
    own, size = np.flatnonzero(free), int(free.sum())
    of_free = slice(None) if size == len(theta) else own
    points = tally.effective_wins[of_free].sum(axis=1)
    cells = tally.cells
    # A free model's votes: all together, or with a bias those as row and those as column.
    sides = [(tally.votes[of_free], 0.0)]
    if tally.bias:
        sides = [(cells[of_free], tally.bias), (cells.T[of_free], -tally.bias)]
    moved = np.inf  # since the information was computed
    for _ in range(MAX_STEPS):
        virtual = expit(theta[own])
        gradient = points + kappa * (0.5 - virtual)
        is_outdated = moved > _SAME_INFORMATION
        information = np.zeros((size, len(theta)) if is_outdated else 0)
        for n, bias in sides:
            p = expected_shares(theta[of_free], theta, bias=bias)
            expected = n * p
            gradient -= expected.sum(axis=1)
            if is_outdated:
                p -= 1
                expected *= p
                information += expected
        if is_outdated:
            diagonal = kappa * virtual * (1 - virtual) - information.sum(axis=1)
            information = information[:, of_free]
            information[np.diag_indices(size)] += diagonal
            if kappa == 0 and size == len(theta):
                information += information.trace() / size**2
            factor, moved = cho_factor(information.T, overwrite_a=True, check_finite=False), 0.0
        step = cho_solve(factor, gradient, check_finite=False)
        # A step that changes no difference by more than 1 always ascends (Bach 2010, self-concordant analysis).
        step /= max(1.0, np.ptp(np.append(step, 0.0)))
        theta[own] += step
        length = float(np.abs(step).max())
        moved += length
        # The information has changed by about `moved` of itself, and that share of the step is wrong.
        if length * moved <= STEP_TOLERANCE**2:
            return theta
    raise ArithmeticError(f"no convergence on {size} models")


def _rough_strengths(tally: Tally) -> Floats:
    """Return the log-odds of each model's share of wins, as if all opponents were average."""
    theta: Floats = logit((tally.effective_wins.sum(axis=1) + 0.5) / (tally.votes.sum(axis=1) + 1))
    theta -= theta.mean()
    return theta


def expected_shares(theta: Floats, opponents: Floats, *, bias: float = 0.0) -> Floats:
    """Return σ(theta[i] − opponents[j] + bias), shape (models, opponents)."""
    if np.ptp(np.append(theta, opponents)) + abs(bias) > _MAX_EXPONENT:
        shares: Floats = expit(theta[:, None] - opponents + bias)
        return shares
    # A ratio of exponentials takes a third of the time of σ for each pair.
    middle = theta.mean()
    odds, others = np.exp(theta - middle + bias)[:, None], np.exp(opponents - middle)
    ratio: Floats = odds + others
    np.divide(odds, ratio, out=ratio)
    return ratio


def symmetrized(cells: Floats) -> Floats:
    both: Floats = cells + cells.T
    return both


def reachable(links: Flags, start: int) -> Flags:
    """Return a mask of the nodes reachable from `start` along links[i, j], itself included."""
    found, before = np.zeros(len(links), dtype=bool), 0
    found[start] = True
    while found.sum() > before:
        before = found.sum()
        found |= links[found].any(axis=0)
    return found


def strong_components(wins: Floats) -> Indices:
    """Number components from 0; edges: wins[i, j] > 0."""
    links = wins > 0
    # Nearly every graph is one component, and this check is much quicker than connected_components.
    if len(links) and reachable(links, 0).all() and reachable(links.T, 0).all():
        return np.zeros(len(links), dtype=np.int64)
    _, component = connected_components(links, directed=True, connection="strong")
    return component.astype(np.int64)


def laplacian(weight: Floats) -> Floats:
    """Return Σ over pairs of weight · (e_i − e_j)(e_i − e_j)ᵀ; weight: symmetric with zero diagonal."""
    matrix = -weight
    matrix[np.diag_indices(len(weight))] += weight.sum(axis=1)
    return matrix


def inverse_on_contrasts(information: Floats) -> Floats:
    """Return the pseudo-inverse of a connected Laplacian: the covariance of θ − mean(θ)."""
    size = len(information)
    level = information.trace() / size**2 or 1.0
    spread = inverse(information + level, overwrite=True)
    spread -= 1 / (level * size**2)
    return spread


def inverse(matrix: Floats, *, overwrite: bool = False) -> Floats:
    """Return the inverse of a positive definite matrix. Raises LinAlgError."""
    factor, _ = cho_factor(matrix.T, lower=True, overwrite_a=overwrite)  # transposed, it is not copied
    # Takes a third of the time of solving for the identity. Only the lower triangle is valid.
    lower: Floats = dpotri(factor, lower=1, overwrite_c=True)[0]
    for column in range(len(lower) - 1):
        lower[column, column + 1 :] = lower[column + 1 :, column]
    return lower.T
