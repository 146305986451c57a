"""Sequential Elo over a whole log, as fast as plain Python goes."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from leaderboard.rating.elo import SCALE, START, K

SHARES = np.array([1.0, 0.0, 0.5, 0.5])  # of the left side, by place in counts.OUTCOMES


@dataclass
class Replay:
    """By model: its rating, its votes and its last vote's order, after the votes added so far."""

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
        """Later votes, in any order; arrays of shape (votes,). The same bits as elo.after_vote gives vote by vote."""
        now = np.argsort(order)
        order, left, right = order[now], left[now], right[now]
        models, places = np.unique(np.concatenate([left, right]), return_inverse=True)
        ratings = [self.rating.get(model, START) for model in models.tolist()]
        first, second = places[: len(left)].tolist(), places[len(left) :].tolist()
        for a, b, share in zip(first, second, SHARES[outcome[now]].tolist(), strict=True):
            change = K * (share - 1 / (1 + 10 ** ((ratings[b] - ratings[a]) / SCALE)))
            ratings[a] += change
            ratings[b] -= change
        self.rating |= zip(models.tolist(), ratings, strict=True)
        votes, last = np.bincount(places, minlength=len(models)), np.zeros(len(models), dtype=np.int64)
        np.maximum.at(last, places, np.concatenate([order, order]))
        for model, n, latest in zip(models.tolist(), votes.tolist(), last.tolist(), strict=True):
            self.votes[model] = self.votes.get(model, 0) + n
            self.last_order[model] = latest
