"""Design matrix z = (e_left − e_right, x) of votes with style features, and sums over it in blocks."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from leaderboard.rating.bradley_terry import Flags, Floats, laplacian

Ints = NDArray[np.integer]

# Votes processed at a time: their arrays then fit into the processor's cache.
BLOCK = 1 << 15


@dataclass(frozen=True)
class StyledVotes:
    """Votes among `models` models with style features; x has shape (k, votes), the others (votes,).

    times: how often each vote counts.
    """

    models: int
    left: Ints
    right: Ints
    share: Floats
    times: Floats
    x: Floats

    def blocks(self) -> Iterator["StyledVotes"]:
        for start in range(0, len(self.left), BLOCK):
            part = slice(start, start + BLOCK)
            yield StyledVotes(
                self.models, self.left[part], self.right[part], self.share[part], self.times[part], self.x[:, part]
            )

    def with_features(self, which: Flags) -> "StyledVotes":
        return self if which.all() else replace(self, x=self.x[which])

    @property
    def pairs(self) -> Ints:
        return self.left * self.models + self.right

    def win_probabilities(self, solution: Floats) -> Floats:
        """Return P(left preferred) at (θ, β), shape (votes,)."""
        theta, beta = solution[: self.models], solution[self.models :]
        logits: Floats = theta[self.left] - theta[self.right]
        for slope, values in zip(beta, self.x, strict=True):
            logits += slope * values
        return expit(logits, out=logits)

    def sums(self, weight: Floats) -> Floats:
        """Return Σ weight · z, shape (models + k,)."""
        by_model = sum_by_index(self.left, weight, self.models) - sum_by_index(self.right, weight, self.models)
        return np.append(by_model, self.x @ weight)

    def products(self, weight: Floats) -> Floats:
        """Return Σ weight · z zᵀ, shape (models + k, models + k)."""
        among = sum_by_index(self.pairs, weight, self.models**2).reshape(self.models, self.models)
        weighted = self.x * weight
        across = np.array(
            [
                sum_by_index(self.left, column, self.models) - sum_by_index(self.right, column, self.models)
                for column in weighted
            ]
        ).reshape(len(self.x), self.models)
        return np.block([[laplacian(among + among.T), across.T], [across, self.x @ weighted.T]])


def sum_by_index(indices: Ints, weight: Floats, size: int) -> Floats:
    """Return Σ weight by index, shape (size,)."""
    return np.bincount(indices, weight, size).astype(np.float64, copy=False)
