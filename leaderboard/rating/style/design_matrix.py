"""Design matrix z = (e_left − e_right, x) of votes with covariates, and sums over it in blocks."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from leaderboard.rating.bradley_terry import Flags, Floats, Indices
from leaderboard.rating.pairs import laplacian

Ints = NDArray[np.integer]

# Votes processed at a time: their arrays then fit into the processor's cache.
BLOCK = 1 << 16


@dataclass(frozen=True)
class StyledVotes:
    """Votes among `models` models with covariates; x has shape (k, votes), the others (votes,).

    times: how often each vote counts; voter: ascending, −1 if unknown.
    """

    models: int
    pair: Indices  # left · models + right: one lookup by pair is quicker than two by model
    share: Floats
    times: Floats
    x: Floats
    voter: Ints

    def blocks(self) -> Iterator["StyledVotes"]:
        """Yield those of unknown voters, then whole voters."""
        start, known = 0, int(np.searchsorted(self.voter, 0))
        while start < len(self.pair):
            end = min(start + BLOCK, len(self.pair))
            if start < known:
                end = min(end, known)
            elif end < len(self.pair):
                end = int(np.searchsorted(self.voter, self.voter[end]))
                if end <= start:  # one voter fills the block
                    end = int(np.searchsorted(self.voter, self.voter[start], side="right"))
            yield self.where(slice(start, end))
            start = end

    def where(self, votes: slice) -> "StyledVotes":
        return StyledVotes(
            self.models, self.pair[votes], self.share[votes], self.times[votes], self.x[:, votes], self.voter[votes]
        )

    def with_covariates(self, which: Flags) -> "StyledVotes":
        return self if which.all() else replace(self, x=self.x[which])

    def win_probabilities(self, solution: Floats) -> Floats:
        """Return P(left preferred) at (θ, β), shape (votes,)."""
        theta, beta = solution[: self.models], solution[self.models :]
        logits: Floats = (theta - theta[:, None]).ravel()[self.pair]  # of the right
        for slope, values in zip(beta, self.x, strict=True):
            logits -= slope * values
        with np.errstate(over="ignore"):  # 1 / (1 + ∞) is 0
            odds = np.exp(logits, out=logits)
        odds += 1
        return np.reciprocal(odds, out=odds)


class VectorSum:
    """Σ weight · z over blocks of votes."""

    def __init__(self, models: int, covariates: int) -> None:
        self._pairs, self._x = np.zeros((models, models)), np.zeros(covariates)

    def add(self, votes: StyledVotes, weight: Floats) -> None:
        self._pairs += sum_by_index(votes.pair, weight, self._pairs.size).reshape(self._pairs.shape)
        self._x += votes.x @ weight

    @property
    def total(self) -> Floats:
        return np.append(_by_model(self._pairs), self._x)


class MatrixSum:
    """Σ weight · z zᵀ over blocks of votes."""

    def __init__(self, models: int, covariates: int) -> None:
        self._pairs, self._x = np.zeros((1 + covariates, models, models)), np.zeros((covariates, covariates))

    def add(self, votes: StyledVotes, weight: Floats) -> None:
        weighted = votes.x * weight
        for sums, values in zip(self._pairs, (weight, *weighted), strict=True):
            sums += sum_by_index(votes.pair, values, sums.size).reshape(sums.shape)
        self._x += votes.x @ weighted.T

    @property
    def total(self) -> Floats:
        among, across = self._pairs[0], _by_model(self._pairs[1:])
        return np.block([[laplacian(among + among.T), across.T], [across, self._x]])


def sum_by_index(indices: Ints, weight: Floats, size: int) -> Floats:
    return np.bincount(indices, weight, size).astype(np.float64, copy=False)


def _by_model(pairs: Floats) -> Floats:
    difference: Floats = pairs.sum(axis=-1) - pairs.sum(axis=-2)
    return difference
