"""Sequential Elo over a whole log of votes."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from leaderboard.rating.elo import SCALE, START, K

SHARES = np.array([1.0, 0.0, 0.5, 0.5])  # of the left side, by index in OUTCOMES


@dataclass
class Replay:
    """Ratings, votes and order of the last vote by model."""

    start: float = START
    k: float = K
    rating: dict[int, float] = field(default_factory=dict)
    votes: dict[int, int] = field(default_factory=dict)
    last_order: dict[int, int] = field(default_factory=dict)

    def add(
        self,
        order: NDArray[np.integer],
        left: NDArray[np.integer],
        right: NDArray[np.integer],
        outcome: NDArray[np.integer],
    ) -> None:
        """Add later votes; arrays of shape (votes,), in any order.

        The result is bit-identical to elo.after_vote applied vote by vote.
        """
        by_order = np.argsort(order)
        order, left, right = order[by_order], left[by_order], right[by_order]
        models, indices = np.unique(np.concatenate([left, right]), return_inverse=True)
        ratings = [self.rating.get(model, self.start) for model in models.tolist()]
        first, second = indices[: len(left)].tolist(), indices[len(left) :].tolist()
        for a, b, share in zip(first, second, SHARES[outcome[by_order]].tolist(), strict=True):
            change = self.k * (share - 1 / (1 + 10 ** ((ratings[b] - ratings[a]) / SCALE)))
            ratings[a] += change
            ratings[b] -= change
        self.rating |= zip(models.tolist(), ratings, strict=True)
        votes, last = np.bincount(indices, minlength=len(models)), np.zeros(len(models), dtype=np.int64)
        np.maximum.at(last, indices, np.concatenate([order, order]))
        for model, n, latest in zip(models.tolist(), votes.tolist(), last.tolist(), strict=True):
            self.votes[model] = self.votes.get(model, 0) + n
            self.last_order[model] = latest
