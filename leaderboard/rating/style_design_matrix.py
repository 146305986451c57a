"""Votes with what their answers wore, and the sums over them that a fit is made of, block by block."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from leaderboard.rating.bradley_terry import Flags, Floats, laplacian

Ints = NDArray[np.integer]

# Votes worked on at once: what they need then stays in the processor's cache.
BLOCK = 1 << 15


@dataclass(frozen=True)
class StyledVotes:
    """Votes among `models` models; x has shape (k, votes), all else (votes,)."""

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
        """P(left preferred)."""
        theta, beta = solution[: self.models], solution[self.models :]
        logits: Floats = theta[self.left] - theta[self.right]
        for slope, values in zip(beta, self.x, strict=True):
            logits += slope * values
        return expit(logits, out=logits)

    def sums(self, weight: Floats) -> Floats:
        """Σ weight · z, shape (models + k,)."""
        taken = sum_by_index(self.left, weight, self.models) - sum_by_index(self.right, weight, self.models)
        return np.append(taken, self.x @ weight)

    def products(self, weight: Floats) -> Floats:
        """Σ weight · z zᵀ, shape (models + k, models + k)."""
        among = sum_by_index(self.pairs, weight, self.models**2).reshape(self.models, self.models)
        weighted = self.x * weight
        across = np.array(
            [sum_by_index(self.left, one, self.models) - sum_by_index(self.right, one, self.models) for one in weighted]
        ).reshape(len(self.x), self.models)
        return np.block([[laplacian(among + among.T), across.T], [across, self.x @ weighted.T]])


def sum_by_index(places: Ints, weight: Floats, size: int) -> Floats:
    """Σ weight by place, shape (size,)."""
    return np.bincount(places, weight, size).astype(np.float64, copy=False)
