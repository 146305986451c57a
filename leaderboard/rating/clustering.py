"""Design effects: widening of intervals by voters' own tastes."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import stdtrit

from leaderboard.rating.bradley_terry import Flags, Floats, Indices
from leaderboard.rating.outcomes import OUTCOMES
from leaderboard.rating.pairs import symmetrized

LEFT_SHARES = np.array([1.0, 0.0, 0.5, 0.5])
# Larger shares of a model's information count as this one, and degrees of freedom are at least 3: with fewer voters,
# the data cannot estimate how much unseen voters would differ.
_MAX_SHARE = 0.75
_MIN_DEGREES_OF_FREEDOM = 3
_VOTER_BATCH = 4096

_BOTH_BAD = OUTCOMES.index("both_bad")


@dataclass(frozen=True)
class VoterVotes:
    """Vote counts per voter; arrays of shape (rows,).

    voter: any numbers; left, right: indices of models; outcome: 0 left won, 1 right won, 2 tie, 3 both bad; n: votes.
    """

    voter: NDArray[np.integer]
    left: NDArray[np.integer]
    right: NDArray[np.integer]
    outcome: NDArray[np.integer]
    n: NDArray[np.integer]

    def renumbered(self) -> Self:
        """Return the votes with nonnegative voter numbers, bounded by a small multiple of the rows."""
        if not len(self.voter) or (self.voter.min() >= 0 and self.voter.max() < 4 * len(self.voter)):
            return self
        _, voter = np.unique(self.voter, return_inverse=True)
        return type(self)(voter, self.left, self.right, self.outcome, self.n)

    def where(self, rows: Flags) -> Self:
        return type(self)(self.voter[rows], self.left[rows], self.right[rows], self.outcome[rows], self.n[rows])

    def among_models(self, models: Indices, *, size: int) -> Self:
        """Return the votes among `models`, renumbered from 0. size: models of the board."""
        index = np.full(size, -1)
        index[models] = np.arange(len(models))
        kept = self.where((index[self.left] >= 0) & (index[self.right] >= 0))
        return type(self)(kept.voter, index[kept.left], index[kept.right], kept.outcome, kept.n)

    @property
    def won_shares(self) -> Floats:
        """Share of the left: 1, 0 or ½."""
        shares: Floats = LEFT_SHARES[self.outcome]
        return shares

    def residuals(self, p: Floats) -> Floats:
        residuals: Floats = self.won_shares - p[self.left, self.right]
        return residuals

    def information(self, p: Floats) -> Floats:
        weight: Floats = self.n * (p * (1 - p))[self.left, self.right]
        return weight

    def cells(self, values: NDArray[np.number], models: int) -> Floats:
        """Return `values` summed by left and right model, shape (models, models)."""
        sums = np.bincount(self.left * models + self.right, weights=values, minlength=models**2)
        return sums.astype(np.float64, copy=False).reshape(models, models)


def sorted_by_voter(voter: NDArray[np.integer]) -> NDArray[np.integer]:
    """Return a stable order; in linear time for voters numbered from −1."""
    positions, voters = np.arange(len(voter), dtype=np.int32), int(voter.max(initial=-1)) + 2
    if voters > 4 * len(voter):
        return np.argsort(voter, kind="stable")
    return csr_array((positions, (voter + 1, positions)), shape=(voters, len(voter))).indices


def effective_voters(voters: VoterVotes, *, votes: int) -> float:
    """Return 1 / Σ share² over voters; of `votes`, those without a known voter have one each."""
    if not len(voters.n):
        return float(votes)
    own = np.bincount(np.unique(voters.voter, return_inverse=True)[1], weights=voters.n)
    return votes**2 / float((own**2).sum() + votes - own.sum())


def design_effects(voters: VoterVotes, p: Floats, spread: Floats, *, free: Flags) -> Floats:
    """Return DEFF, shape (models,): the variance clustered by voter over that of independent votes, at least 1.

    p: expected share of the left, shape (models, models); spread: inverse information of the free models, 0 elsewhere.
    Clustered: each voter's scores are summed and divided by 1 − h, h being the voter's share of a model's information
    (cluster jackknife), then squared; times t² with 1 / Σ h² − 1 degrees of freedom. Independent: the same with one
    voter per vote.
    Sources: Liang, Zeger (1986); Bell, McCaffrey (2002), CR3; Carter, Schnepel, Steigerwald (2017), effective clusters.
    """
    # The usual factor G / (G − 1) is too small where few voters cast most votes.
    rows = voters.where(free[voters.left] | free[voters.right]).renumbered()
    if not len(rows.n):
        return np.ones(len(p))
    residuals, weight = rows.residuals(p), rows.information(p)
    score: Floats = rows.n * residuals
    scores = sum_by_voter_and_model(rows, score, -score, len(p))
    share = sum_by_voter_and_model(rows, weight, weight, len(p))
    information: Floats = np.asarray(share.sum(axis=0), dtype=np.float64)
    information[information == 0] = 1  # models without votes: avoids a division by 0
    share.data /= information[share.indices]
    scores.data /= one_minus_leverage(share.data)
    clustered = _sandwich_diagonal(spread, gram_matrix(scores))
    concentration: Floats = np.asarray(share.power(2).sum(axis=0), dtype=np.float64)
    votes, squares = rows.cells(rows.n, len(p)), rows.cells(score * residuals, len(p))
    left_share, right_share = p * (1 - p) / information[:, None], p * (1 - p) / information
    left, right = 1 / one_minus_leverage(left_share), 1 / one_minus_leverage(right_share)
    diagonal = (squares * left**2).sum(axis=1) + (squares * right**2).sum(axis=0)
    independent = _sandwich_diagonal(spread, np.diag(diagonal) - symmetrized(squares * left * right))
    vote_concentration = (votes * left_share**2).sum(axis=1) + (votes * right_share**2).sum(axis=0)
    return variance_ratio(clustered, concentration, independent, vote_concentration)


def scalar_design_effect(voters: VoterVotes, p: Floats, influence: Floats) -> float:
    """Return the DEFF of one estimate, to which a vote adds its residual times influence[left, right]."""
    if not len(voters.n):
        return 1.0
    voters = voters.renumbered()
    row_influence = influence[voters.left, voters.right]
    row_information, score = voters.information(p) * row_influence**2, voters.residuals(p) * row_influence
    if not row_information.any():
        return 1.0
    share: Floats = np.bincount(voters.voter, weights=row_information).astype(np.float64) / row_information.sum()
    vote_share = row_information / (voters.n * row_information.sum())
    clustered = np.bincount(voters.voter, weights=voters.n * score) / one_minus_leverage(share)
    independent = voters.n * (score / one_minus_leverage(vote_share)) ** 2
    sums = ((clustered**2).sum(), (share**2).sum(), independent.sum(), (voters.n * vote_share**2).sum())
    return float(variance_ratio(*(np.array([value]) for value in sums))[0])


def variance_ratio(clustered: Floats, concentration: Floats, independent: Floats, vote_concentration: Floats) -> Floats:
    above = clustered * _squared_t_quantile(concentration)
    below = independent * _squared_t_quantile(vote_concentration)
    return np.maximum(1, np.divide(above, below, out=np.ones_like(below), where=below > 0))


def _squared_t_quantile(concentration: Floats) -> Floats:
    """Return t² at the 97.5 % quantile with 1 / concentration − 1 degrees of freedom; concentration: Σ h²."""
    degrees_of_freedom = 1 / np.maximum(concentration, np.finfo(float).tiny) - 1
    quantile: Floats = stdtrit(np.clip(degrees_of_freedom, _MIN_DEGREES_OF_FREEDOM, 1e9), 0.975).astype(np.float64)
    return quantile**2


def one_minus_leverage(share: Floats) -> Floats:
    return np.maximum(1 - share, 1 - _MAX_SHARE)


def _sandwich_diagonal(spread: Floats, meat: Floats) -> Floats:
    variances: Floats = np.sum((spread @ meat) * spread, axis=1)
    return variances


def sum_by_voter_and_model(rows: VoterVotes, left: Floats, right: Floats, models: int) -> csr_array:
    """Return Σ `left` by voter and left model plus Σ `right` by voter and right model, shape (voters, models)."""
    indices = np.tile(rows.voter, 2), np.concatenate([rows.left, rows.right])
    return csr_array((np.concatenate([left, right]), indices), shape=(int(rows.voter.max()) + 1, models))


def gram_matrix(scores: csr_array) -> Floats:
    # Voters with few models: a sparse product. Voters with many: a dense product is quicker, in batches.
    is_dense = np.diff(scores.indptr) > scores.shape[1] / 8
    meat: Floats = (scores[~is_dense].T @ scores[~is_dense]).toarray()
    dense_rows = np.flatnonzero(is_dense)
    for begin in range(0, len(dense_rows), _VOTER_BATCH):
        block = scores[dense_rows[begin : begin + _VOTER_BATCH]].toarray()
        meat += block.T @ block
    return meat


def both_bad_design_effects(voters: VoterVotes, models: int) -> Floats:
    """Return DEFF of the shares of both_bad, shape (models,): the clustered variance over the binomial, at least 1.

    Clustered as in design_effects, by residuals from the share; h: the voter's share of the model's votes. The binomial
    one has a normal quantile, as the interval that DEFF widens.
    """
    rows = voters.renumbered()
    if not len(rows.n):
        return np.ones(models)
    n, is_both_bad = rows.n.astype(np.float64), rows.outcome == _BOTH_BAD
    votes, both_bad = (sum_by_voter_and_model(rows, each, each, models) for each in (n, n * is_both_bad))
    total = np.maximum(votes.sum(axis=0), 1)
    rate: Floats = both_bad.sum(axis=0) / total
    model, share = votes.indices, votes.data / total[votes.indices]
    residual = (both_bad.data - votes.data * rate[model]) / one_minus_leverage(share)
    clustered, concentration = (
        np.bincount(model, weights=each**2, minlength=models).astype(np.float64) for each in (residual, share)
    )
    return variance_ratio(clustered, concentration, total * rate * (1 - rate), np.zeros(models))
