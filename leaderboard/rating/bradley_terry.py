"""Bradley–Terry strengths from pair counts, by exact maximum likelihood.

Notation as in docs/method.md: θ strengths in natural-log units, β the side bias in favour of the row,
p[i, j] = σ(θ[i] − θ[j] + β) the expected share of the row, q = 1 − p, n the votes of a cell.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dpotri
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.special import expit, logit

from leaderboard.rating.elo import SCALE
from leaderboard.rating.pairs import AllPairs, ListedPairs, Pairs, symmetrized
from leaderboard.rating.pairs import Flags as Flags
from leaderboard.rating.pairs import Floats as Floats
from leaderboard.rating.pairs import Indices as Indices

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
    """Strengths to start from, or with the rest, a result with the bias β."""

    theta: Floats
    p: Floats | None = None
    spread: Floats | None = None  # inverse information on contrasts
    bias: float = 0.0
    forms: Floats | None = None  # quadratic forms of `spread`; may be overwritten


@dataclass(frozen=True)
class Tally:
    """Vote counts, values on `pairs`: by default, matrices; every vote is in one cell of one of the three.

    won[i, j]: the row won; lost[i, j]: the column won; tied[i, j]: a tie of either kind. Where sides matter,
    the row is the left model and `bias` is β; otherwise a vote may be in [i, j] or in [j, i].
    """

    won: Floats
    lost: Floats
    tied: Floats
    bias: float = 0.0
    listed: ListedPairs | None = None

    @classmethod
    def from_wins(cls, wins: Floats, ties: Floats) -> Self:
        """Build from wins[i, j] of i over j and symmetric ties."""
        return cls(won=wins, lost=np.zeros_like(wins), tied=np.triu(ties))

    @classmethod
    def from_side_counts(
        cls, counts: Floats | Indices, *, bias: float = 0.0, listed: ListedPairs | None = None
    ) -> Self:
        """Build from counts[outcome, left, right]; outcomes: left won, right won, tie, both bad.

        With `listed`, from counts[outcome, pair].
        """
        won, lost = (side.astype(np.float64, copy=False) for side in counts[:2])
        return cls(won, lost, (counts[2] + counts[3]).astype(np.float64, copy=False), bias, listed)

    @cached_property
    def pairs(self) -> Pairs:
        return self.listed or AllPairs(len(self.won))

    @property
    def models(self) -> int:
        return self.pairs.models

    @cached_property
    def cells(self) -> Floats:
        return self.won + self.lost + self.tied

    @cached_property
    def votes(self) -> Floats:
        """Votes of each two models, shape (models, models)."""
        return symmetrized(self.pairs.matrix(self.cells))

    @cached_property
    def votes_per_model(self) -> Floats:
        return self.pairs.row_sums(self.cells) + self.pairs.column_sums(self.cells)

    @cached_property
    def effective_wins(self) -> Floats:
        """S[i, j]: wins of i over j, a tie counts ½; shape (models, models)."""
        won, lost = (self.pairs.matrix(side) for side in self.shares)
        return won + lost.T

    @cached_property
    def wins_per_model(self) -> Floats:
        """Wins, a tie counts ½."""
        of_rows, of_columns = self.row_wins
        return of_rows + self.pairs.column_sums(self.cells) - of_columns

    @cached_property
    def row_wins(self) -> tuple[Floats, Floats]:
        """Wins of the rows, ties as halves, by the row's and by the column's model."""
        won, _ = self.shares
        return self.pairs.row_sums(won), self.pairs.column_sums(won)

    @cached_property
    def shares(self) -> tuple[Floats, Floats]:
        """Wins of the row and of the column, a tie counts ½."""
        half = self.tied / 2
        return self.won + half, self.lost + half

    @property
    def has_won(self) -> "Flags | csr_array":
        """Graph with an edge from each model to those it took something from."""
        won, lost = self.shares
        return self.pairs.links(won > 0, lost > 0)

    @cached_property
    def components(self) -> Indices:
        """Number of each model's strongly connected component of `has_won`."""
        return strong_components(self.has_won)

    def subset(self, models: Flags | Indices) -> Self:
        """Return the tally among `models`, a mask or ascending indices."""
        own = np.flatnonzero(models) if models.dtype == bool else models.astype(np.int64, copy=False)
        if len(own) == self.models:
            return self  # with what it has cached
        inside, kept = self.pairs.subset(own)
        listed = inside if isinstance(inside, ListedPairs) else None
        return type(self)(self.won[kept], self.lost[kept], self.tied[kept], self.bias, listed)

    def as_matrices(self) -> Self:
        if self.listed is None:
            return self
        won, lost, tied = (self.listed.matrix(values) for values in (self.won, self.lost, self.tied))
        return type(self)(won, lost, tied, self.bias)

    def among(self, groups: Indices) -> Self:
        """Return the tally without votes between groups; groups: number of each model's."""
        is_inside = self.pairs.of_rows(groups) == self.pairs.of_columns(groups)
        return replace(self, won=self.won * is_inside, lost=self.lost * is_inside, tied=self.tied * is_inside)

    def win_probabilities(self, theta: Floats, *, bias: float | None = None) -> Floats:
        bias = self.bias if bias is None else bias
        if self.listed:
            shares: Floats = expit(theta[self.listed.rows] - theta[self.listed.columns] + bias)
            return shares
        return expected_shares(theta, theta, bias=bias)

    def information(self, p: Floats) -> Floats:
        """Return the information about θ, n·p·q (e_i − e_j)(e_i − e_j)ᵀ summed, shape (models, models)."""
        return self.pairs.laplacian(self.expected_squares(p))

    def expected_squares(self, p: Floats) -> Floats:
        """n·p·q of each cell."""
        weight: Floats = 1 - p
        weight *= p
        weight *= self.cells
        return weight

    def squared_residuals(self, p: Floats) -> Floats:
        """Σ (y − p)² over each cell's votes, exact."""
        squares: Floats = 1 - p
        squares *= squares
        squares *= self.won
        residual: Floats = np.square(p)
        residual *= self.lost
        squares += residual
        np.subtract(p, 0.5, out=residual)
        residual *= residual
        residual *= self.tied
        squares += residual
        return squares


def maximum_likelihood(wins: Floats, ties: Floats) -> Floats:
    """Return the θ that maximizes Σ S log p, mean 0.

    wins[i, j]: of i over j; ties: symmetric. Raises NotConnected.
    """
    tally = Tally.from_wins(wins, ties)
    if len(wins) == 0 or strong_components(tally.has_won).any():
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

    Each free model has `kappa` virtual ties with an average opponent.
    """
    theta = start.copy()
    own, size = np.flatnonzero(free), int(free.sum())
    of_free = slice(None) if size == len(theta) else own
    derivatives = _ListedDerivatives(tally, own) if tally.listed else _Derivatives(tally, of_free)
    points = tally.wins_per_model[of_free]
    moved = np.inf  # since the information was computed
    none = np.empty((0, 0)), False
    factor, information = none, None
    for _ in range(MAX_STEPS):
        virtual = expit(theta[own])
        gradient = points + kappa * (0.5 - virtual)
        is_outdated = moved > _SAME_INFORMATION
        if is_outdated:
            factor, information = none, None  # with thousands of models, 100 MB that the next one needs
        expected, information = derivatives.at(theta, with_information=is_outdated)
        gradient -= expected
        if information is not None:
            information[np.diag_indices(size)] += kappa * virtual * (1 - virtual)
            if kappa == 0 and size == len(theta):
                # Only differences are identified: the all-ones direction fixes the mean.
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


class _Derivatives:
    """Expected wins and information of free models."""

    def __init__(self, tally: Tally, of_free: Indices | slice) -> None:
        # A free model's votes: all together, or with a bias those as row and those as column.
        self._of_free = of_free
        self._sides = [(tally.votes[of_free], 0.0)]
        if tally.bias:
            self._sides = [(tally.cells[of_free], tally.bias), (tally.cells.T[of_free], -tally.bias)]

    def at(self, theta: Floats, *, with_information: bool) -> tuple[Floats, Floats | None]:
        free = theta if isinstance(self._of_free, slice) else theta[self._of_free]
        wins, information = np.zeros_like(free), None
        for n, bias in self._sides:
            p = expected_shares(free, theta, bias=bias)
            expected = n * p
            wins += expected.sum(axis=1)
            if with_information:
                p -= 1
                expected *= p
                information = expected if information is None else np.add(information, expected, out=information)
        if information is not None:
            diagonal = information.sum(axis=1)
            information = information[:, self._of_free]
            information[np.diag_indices(len(free))] -= diagonal
        return wins, information


class _ListedDerivatives:
    def __init__(self, tally: Tally, free: Indices) -> None:
        self._tally, self._free = tally, free
        self._inside = None if len(free) == tally.models else tally.pairs.subset(free)

    def at(self, theta: Floats, *, with_information: bool) -> tuple[Floats, Floats | None]:
        tally, pairs = self._tally, self._tally.pairs
        p = tally.win_probabilities(theta)
        expected = tally.cells * p
        wins = (pairs.row_sums(expected) + pairs.column_sums(tally.cells - expected))[self._free]
        if not with_information:
            return wins, None
        expected *= 1 - p
        if self._inside is None:
            return wins, pairs.laplacian(expected)
        inside, kept = self._inside
        information = inside.laplacian(expected[kept])
        diagonal = pairs.row_sums(expected) + pairs.column_sums(expected)
        information[np.diag_indices(len(self._free))] = diagonal[self._free]
        return wins, information


def _rough_strengths(tally: Tally) -> Floats:
    """Return the log-odds of each model's share of wins, as if all opponents were average."""
    theta: Floats = logit((tally.wins_per_model + 0.5) / (tally.votes_per_model + 1))
    theta -= theta.mean()
    return theta


def expected_shares(theta: Floats, opponents: Floats, *, bias: float = 0.0) -> Floats:
    """Return σ(theta[i] − opponents[j] + bias), shape (models, opponents)."""
    highest, lowest = theta.max(), theta.min()
    if opponents is not theta:
        highest, lowest = max(highest, opponents.max()), min(lowest, opponents.min())
    if highest - lowest + abs(bias) > _MAX_EXPONENT:
        shares: Floats = expit(theta[:, None] - opponents + bias)
        return shares
    # A ratio of exponentials takes a third of the time of σ for each pair.
    middle = (highest + lowest) / 2
    odds, others = np.exp(theta - middle + bias)[:, None], np.exp(opponents - middle)
    ratio: Floats = odds + others
    np.divide(odds, ratio, out=ratio)
    return ratio


def reachable(links: Flags, start: int) -> Flags:
    """Return a mask of the nodes reachable from `start` along links[i, j], itself included."""
    reached, before = np.zeros(len(links), dtype=bool), 0
    reached[start] = True
    while reached.sum() > before:
        before = reached.sum()
        reached |= links[reached].any(axis=0)
    return reached


def strong_components(wins: Floats | Flags | csr_array) -> Indices:
    """Number components from 0; edges: wins[i, j] > 0."""
    links = wins > 0
    # Nearly every graph is one component, and this check is much quicker than connected_components.
    if isinstance(links, np.ndarray) and len(links) and reachable(links, 0).all() and reachable(links.T, 0).all():
        return np.zeros(len(links), dtype=np.int64)
    _, component = connected_components(links, directed=True, connection="strong")
    return component.astype(np.int64)


def inverse_on_contrasts(information: Floats, *, overwrite: bool = False) -> Floats:
    """Return the pseudo-inverse of a connected Laplacian: the covariance of θ − mean(θ)."""
    size = len(information)
    level = information.trace() / size**2 or 1.0
    spread = inverse(np.add(information, level, out=information if overwrite else None), overwrite=True)
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
