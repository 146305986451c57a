from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.special import expit

from leaderboard.rating.board_fit import fit_board
from leaderboard.rating.bradley_terry import POINTS, Flags, Floats, Indices
from leaderboard.rating.sampling import inverse_information

LEFT, RIGHT, TIE = 0, 1, 2
# A fit is renewed when the votes grew by a twentieth: one of n votes has an error of about 1/√n of theirs.
GROWTH = 0.05
# Share of the votes from which a voter's own votes are taken out of the fit for their later ones.
HEAVY = 0.01


@dataclass(frozen=True)
class Votes:
    """Votes in order of casting; arrays of shape (votes,). voter: any numbers; outcome: LEFT, RIGHT or TIE."""

    voter: Indices
    left: Indices
    right: Indices
    outcome: Indices

    def __len__(self) -> int:
        return len(self.voter)

    def subset(self, which: slice | Flags | Indices) -> "Votes":
        return Votes(self.voter[which], self.left[which], self.right[which], self.outcome[which])

    @property
    def share(self) -> Floats:
        """Share of the left side: 1, 0 or ½."""
        return np.array([1.0, 0.0, 0.5])[self.outcome]


@dataclass(frozen=True)
class Forecast:
    """Expected votes of average people; arrays of shape (votes,)."""

    # θ_left − θ_right, NaN where a model is not established, and its variance.
    logit: Floats
    variance: Floats
    # ν of the tie rate ν · 4pq.
    ties: Floats
    # Number of the fit.
    block: Indices


@dataclass(frozen=True)
class EarlierFit:
    """Fit of earlier votes. theta: NaN unless established."""

    theta: Floats
    covariance: Floats
    ties: float

    @classmethod
    def of(cls, votes: Votes, *, models: int, kappa: float = 0.5) -> Self:
        wins, ties = _counts(votes, models)
        board = fit_board(wins, ties, kappa=kappa, offset=0)
        placed = board.established & (board.group == 0)
        theta = np.where(placed, board.score / POINTS, np.nan)
        p = expit(theta[:, None] - theta)
        even = np.nansum((wins + wins.T + ties) * 4 * p * (1 - p))
        rate = ties[np.ix_(placed, placed)].sum() / max(float(even), 1.0)
        return cls(theta, board.covariance / POINTS**2, min(float(rate), 1.0))

    @property
    def errors(self) -> Floats:
        """Standard errors of θ, shape (models,)."""
        errors: Floats = np.sqrt(np.diag(self.covariance))
        return errors

    def forecast(self, votes: Votes, *, block: int = 0) -> Forecast:
        left, right, own = votes.left, votes.right, np.diag(self.covariance)
        variance = np.maximum(own[left] + own[right] - 2 * self.covariance[left, right], 0)
        ties, blocks = np.full(len(votes), self.ties), np.full(len(votes), block)
        return Forecast(self.theta[left] - self.theta[right], variance, ties, blocks)


def sequential_forecast(votes: Votes, *, models: int, kappa: float = 0.5) -> Forecast:
    """Forecast each vote from a fit of votes before it."""
    parts = []
    for number, (begin, end) in enumerate(_blocks(len(votes))):
        earlier, block = votes.subset(slice(begin)), votes.subset(slice(begin, end))
        fit = EarlierFit.of(earlier, models=models, kappa=kappa)
        part = fit.forecast(block, block=number)
        parts.append(replace(part, logit=part.logit - _own_influence(fit, earlier, block, kappa=kappa)))
    none = np.zeros(0)
    parts.append(Forecast(none, none, none, np.zeros(0, dtype=np.int64)))
    return Forecast(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in ("logit", "variance", "ties", "block"))
    )


def _own_influence(fit: EarlierFit, earlier: Votes, block: Votes, *, kappa: float) -> Floats:
    """Return how far the earlier votes of each vote's voter moved its logit."""
    # One Newton step removes a voter's votes from a fit: θ_others = θ − H⁻¹ Σ (y − p) x.
    voters, number = np.unique(earlier.voter, return_counts=True)
    heavy = voters[number >= HEAVY * max(len(earlier), 1)]
    placed = np.isfinite(fit.theta)
    own = earlier.subset(np.isin(earlier.voter, heavy) & placed[earlier.left] & placed[earlier.right])
    influence, models = np.zeros(len(block)), len(placed)
    if not len(own):
        return influence
    theta = np.nan_to_num(fit.theta)
    fitted = earlier.subset(placed[earlier.left] & placed[earlier.right])
    cells = np.bincount(fitted.left * models + fitted.right, minlength=models**2).reshape(models, models)
    spread = inverse_information(theta, (cells + cells.T).astype(np.float64), kappa=kappa)
    residual = own.share - expit(theta[own.left] - theta[own.right])
    row, scores = np.searchsorted(heavy, own.voter), np.zeros((len(heavy), models))
    np.add.at(scores, (row, own.left), residual)
    np.add.at(scores, (row, own.right), -residual)
    moved = scores @ spread
    by_heavy = np.flatnonzero(np.isin(block.voter, heavy))
    row = np.searchsorted(heavy, block.voter[by_heavy])
    influence[by_heavy] = moved[row, block.left[by_heavy]] - moved[row, block.right[by_heavy]]
    return influence


def _blocks(votes: int) -> Iterator[tuple[int, int]]:
    begin = 0
    while begin < votes:
        end = min(votes, begin + max(20, int(GROWTH * begin)))
        yield begin, end
        begin = end


def _counts(votes: Votes, models: int) -> tuple[Floats, Floats]:
    """Return (wins, ties), shape (models, models) each."""
    cells = (votes.outcome * models + votes.left) * models + votes.right
    left, right, tied = np.bincount(cells, minlength=3 * models**2).reshape(3, models, models).astype(np.float64)
    return left + right.T, tied + tied.T
