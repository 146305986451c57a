"""Voters with tastes of their own: how much wider that makes an interval than independent votes would."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import stdtrit

from leaderboard.rating.bradley_terry import Flags, Floats, Places, mirrored

LEFT_SHARES = np.array([1.0, 0.0, 0.5, 0.5])
# A voter with more than this share of a model's votes counts as having it, and degrees of freedom are at least 3:
# beyond, the doubt would be about voters whom nobody has seen, and no number could say how large it is.
_LARGEST_SHARE = 0.75
_FEWEST = 3
_VOTERS_AT_ONCE = 4096


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
    n: NDArray[np.integer]

    def numbered(self) -> Self:
        """The same, with voters numbered from 0, in about as many numbers as there are voters."""
        if not len(self.voter) or (self.voter.min() >= 0 and self.voter.max() < 4 * len(self.voter)):
            return self
        _, voter = np.unique(self.voter, return_inverse=True)
        return type(self)(voter, self.left, self.right, self.outcome, self.n)

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

    def information(self, p: Floats) -> Floats:
        """n·p·q of each row."""
        weight: Floats = self.n * (p * (1 - p))[self.left, self.right]
        return weight

    def cells(self, values: NDArray[np.number], models: int) -> Floats:
        """The rows' values summed by left and right, shape (models, models)."""
        sums = np.bincount(self.left * models + self.right, weights=values, minlength=models**2)
        return sums.astype(np.float64, copy=False).reshape(models, models)


def inflation(voters: VoterVotes, p: Floats, spread: Floats, *, free: Flags) -> Floats:
    """DEFF, shape (models,): variance clustered by voter over that of the same votes one by one, at least 1.

    p: expected share of the left, shape (models, models); spread: inverse information of the free models, zero
    elsewhere. Clustered: the scores of one voter's votes are summed before they are squared (Liang, Zeger 1986),
    each divided by 1 − h, where h is the voter's share of a model's information: a cluster's jackknife (CR3; Bell,
    McCaffrey 2002), here model by model. The variance is stretched by t², t with G* − 1 degrees of freedom, where
    G* = 1 / Σ h² is the number of equal voters worth as much (Carter, Schnepel, Steigerwald 2017): where a few cast
    most votes, G / (G − 1) for all G voters would not do. One by one: the same as if each vote had a voter of its
    own. One voter alone says nothing of others: 1.
    """
    rows = voters.where(free[voters.left] | free[voters.right]).numbered()
    if not len(rows.n):
        return np.ones(len(p))
    rest, weight = rows.residuals(p), rows.information(p)
    score: Floats = rows.n * rest
    scores = _by_voter_and_model(rows, score, -score, len(p))
    share = _by_voter_and_model(rows, weight, weight, len(p))
    information: Floats = np.asarray(share.sum(axis=0), dtype=np.float64)
    information[information == 0] = 1  # of models without votes
    share.data /= information[share.indices]
    scores.data /= _rest_of(share.data)
    clustered = _variances(spread, _outer_sum(scores))
    concentration: Floats = np.asarray(share.power(2).sum(axis=0), dtype=np.float64)
    votes, squares = rows.cells(rows.n, len(p)), rows.cells(score * rest, len(p))
    of_left, of_right = p * (1 - p) / information[:, None], p * (1 - p) / information
    left, right = 1 / _rest_of(of_left), 1 / _rest_of(of_right)
    diagonal = (squares * left**2).sum(axis=1) + (squares * right**2).sum(axis=0)
    one_by_one = _variances(spread, np.diag(diagonal) - mirrored(squares * left * right))
    dispersed = (votes * of_left**2).sum(axis=1) + (votes * of_right**2).sum(axis=0)
    return _ratio(clustered, concentration, one_by_one, dispersed)


def inflation_of_one(voters: VoterVotes, p: Floats, influence: Floats) -> float:
    """DEFF of one number, to which a vote adds its residual times influence[left, right]."""
    if not len(voters.n):
        return 1.0
    voters = voters.numbered()
    by = influence[voters.left, voters.right]
    of_row, score = voters.information(p) * by**2, voters.residuals(p) * by
    if not of_row.any():
        return 1.0
    share: Floats = np.bincount(voters.voter, weights=of_row).astype(np.float64) / of_row.sum()
    of_vote = of_row / (voters.n * of_row.sum())
    clustered = np.bincount(voters.voter, weights=voters.n * score) / _rest_of(share)
    one_by_one = voters.n * (score / _rest_of(of_vote)) ** 2
    sums = ((clustered**2).sum(), (share**2).sum(), one_by_one.sum(), (voters.n * of_vote**2).sum())
    return float(_ratio(*(np.array([one]) for one in sums))[0])


def _ratio(clustered: Floats, concentration: Floats, one_by_one: Floats, dispersed: Floats) -> Floats:
    """Of the variances, each stretched as its Σ h² asks."""
    above, below = clustered * _stretch(concentration), one_by_one * _stretch(dispersed)
    return np.maximum(1, np.divide(above, below, out=np.ones_like(below), where=below > 0))


def _stretch(concentration: Floats) -> Floats:
    """t² of the 97.5 % quantile; concentration: Σ h²."""
    freedom = 1 / np.maximum(concentration, np.finfo(float).tiny) - 1
    quantile: Floats = stdtrit(np.clip(freedom, _FEWEST, 1e9), 0.975).astype(np.float64)
    return quantile**2


def _rest_of(share: Floats) -> Floats:
    """1 − h."""
    return np.maximum(1 - share, 1 - _LARGEST_SHARE)


def _variances(spread: Floats, meat: Floats) -> Floats:
    """The diagonal of spread · meat · spread."""
    variances: Floats = np.sum((spread @ meat) * spread, axis=1)
    return variances


def _by_voter_and_model(rows: VoterVotes, left: Floats, right: Floats, models: int) -> csr_array:
    """Sums of `left` over the rows in which a voter saw a model on the left, and of `right` on the right."""
    places = np.tile(rows.voter, 2), np.concatenate([rows.left, rows.right])
    return csr_array((np.concatenate([left, right]), places), shape=(int(rows.voter.max()) + 1, models))


def _outer_sum(scores: csr_array) -> Floats:
    """UᵀU, shape (models, models)."""
    # Few models each: a sparse product. Most models each: a dense one is quicker, a few voters at a time.
    eager = np.diff(scores.indptr) > scores.shape[1] / 8
    meat: Floats = (scores[~eager].T @ scores[~eager]).toarray()
    busy = np.flatnonzero(eager)
    for begin in range(0, len(busy), _VOTERS_AT_ONCE):
        block = scores[busy[begin : begin + _VOTERS_AT_ONCE]].toarray()
        meat += block.T @ block
    return meat
