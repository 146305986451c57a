import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leaderboard.rating.bradley_terry import Floats

OUTCOMES = ("left", "right", "tie", "both_bad")


@dataclass(frozen=True)
class Counts:
    """n[k, i, j]: votes with OUTCOMES[k], names[i] on the left, names[j] on the right; names: sorted."""

    names: list[str]
    n: NDArray[np.int64]

    @property
    def total(self) -> int:
        return int(self.n.sum())

    @property
    def wins(self) -> Floats:
        """Wins of row over column, shape (models, models)."""
        wins: Floats = (self.n[0] + self.n[1].T).astype(np.float64)
        return wins

    @property
    def ties(self) -> Floats:
        """Ties without "both bad", shape (models, models), symmetric."""
        ties: Floats = (self.n[2] + self.n[2].T).astype(np.float64)
        return ties

    @property
    def both_bad(self) -> Floats:
        """Votes for "both bad", shape (models, models), symmetric."""
        ties: Floats = (self.n[3] + self.n[3].T).astype(np.float64)
        return ties

    @property
    def votes_per_model(self) -> NDArray[np.int64]:
        votes: NDArray[np.int64] = self.n.sum(axis=(0, 2)) + self.n.sum(axis=(0, 1))
        return votes

    def minus(self, other: "Counts") -> "Counts":
        """Return the counts without those of `other`, which has the same names."""
        return Counts(self.names, self.n - other.n)

    def plus(self, other: "Counts") -> "Counts":
        return Counts(self.names, self.n + other.n)

    @property
    def checksum(self) -> str:
        """SHA-256 in hex of the names in UTF-8, each with a newline, then `n` as little-endian int64."""
        names = "".join(f"{name}\n" for name in self.names).encode()
        return hashlib.sha256(names + self.n.astype("<i8").tobytes()).hexdigest()


def count_votes(
    names: list[str], left: NDArray[np.integer], right: NDArray[np.integer], outcome: NDArray[np.integer],
    n: NDArray[np.integer],
) -> Counts:  # fmt: skip
    """Count votes; left, right: indices in `names`; outcome: indices in OUTCOMES; n: votes; shape (rows,)."""
    size = len(names)
    cells = (outcome.astype(np.int64) * size + left) * size + right
    # Sums of integers below 2^53 are exact in floating point, and bincount is ten times as fast as add.at.
    weights = None if (n == 1).all() else n
    counts = np.bincount(cells, weights=weights, minlength=len(OUTCOMES) * size * size).astype(np.int64, copy=False)
    return Counts(names, counts.reshape(len(OUTCOMES), size, size))
