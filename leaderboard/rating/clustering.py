"""Voters with tastes of their own: how much wider that makes an interval than independent votes would."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from leaderboard.rating.bradley_terry import Flags, Floats, Places, laplacian, mirrored

LEFT_SHARES = np.array([1.0, 0.0, 0.5, 0.5])
_ROWS_AT_ONCE = 4096


@dataclass(frozen=True)
class VoterVotes:
    """Votes counted per voter; five arrays of shape (rows,).

    voter: any numbers; left, right: places of models; outcome: 0 left won, 1 right won, 2 tie, 3 both bad;
    n: how often.
    """

    voter: NDArray[np.integer]
    left: NDArray[np.integer]
    right: NDArray[np.integer]
    outcome: NDArray[np.integer]
    n: NDArray[np.number]

    def where(self, rows: Flags) -> Self:
        return type(self)(self.voter[rows], self.left[rows], self.right[rows], self.outcome[rows], self.n[rows])

    def among(self, models: Places, *, size: int) -> Self:
        """The votes among `models` of a board of that size, with places counted among them."""
        place = np.full(size, -1)
        place[models] = np.arange(len(models))
        kept = self.where((place[self.left] >= 0) & (place[self.right] >= 0))
        return type(self)(kept.voter, place[kept.left], place[kept.right], kept.outcome, kept.n)

    def residuals(self, p: Floats) -> Floats:
        """y − p of one vote of each row."""
        rest: Floats = LEFT_SHARES[self.outcome] - p[self.left, self.right]
        return rest


def inflation(voters: VoterVotes, p: Floats, spread: Floats, *, free: Flags) -> Floats:
    """DEFF, shape (models,): variance clustered by voter over the plain one from the same votes, at least 1.

    p: expected share of the left, shape (models, models); spread: inverse information of the free models, zero
    elsewhere. Clustered: the scores of one voter's votes are summed before they are squared, times G / (G − 1)
    for G voters (Liang, Zeger 1986; Cameron, Miller 2015). One voter alone says nothing of others: 1.
    """
    rows = voters.where(free[voters.left] | free[voters.right])
    _, voter = np.unique(rows.voter, return_inverse=True)
    groups = int(voter.max(initial=-1)) + 1
    if groups < 2:
        return np.ones(len(p))
    rest = rows.residuals(p)
    squares = np.bincount(rows.left * len(p) + rows.right, rows.n * rest**2, minlength=p.size).reshape(p.shape)
    summed = _summed_by_voter(rows, voter, rest, len(p)) * groups / (groups - 1)
    plain = np.sum((spread @ laplacian(mirrored(squares))) * spread, axis=1)
    clustered = np.sum((spread @ summed) * spread, axis=1)
    return np.maximum(1, np.divide(clustered, plain, out=np.ones_like(plain), where=plain > 0))


def _summed_by_voter(rows: VoterVotes, voter: Places, rest: Floats, models: int) -> Floats:
    """UᵀU, shape (models, models), where U[g, i] is voter g's score for model i."""
    score = rows.n * rest
    scores = csr_array(
        (np.concatenate([score, -score]), (np.tile(voter, 2), np.concatenate([rows.left, rows.right]))),
        shape=(int(voter.max()) + 1, models),
    )
    # Few models each: a sparse product. Most models each: a dense one is quicker, a few voters at a time.
    eager = np.diff(scores.indptr) > models / 8
    meat: Floats = (scores[~eager].T @ scores[~eager]).toarray()
    busy = np.flatnonzero(eager)
    for begin in range(0, len(busy), _ROWS_AT_ONCE):
        block = scores[busy[begin : begin + _ROWS_AT_ONCE]].toarray()
        meat += block.T @ block
    return meat
