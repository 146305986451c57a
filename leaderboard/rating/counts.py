"""One board's votes as counts, and the checksum by which two people know that theirs are the same."""

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leaderboard.rating.bradley_terry import Floats

OUTCOMES = ("left", "right", "tie", "both_bad")


@dataclass(frozen=True)
class Counts:
    """n[k, i, j]: how often OUTCOMES[k] came of names[i] on the left and names[j] on the right; names ascending."""

    names: list[str]
    n: NDArray[np.int64]

    @property
    def total(self) -> int:
        return int(self.n.sum())

    @property
    def wins(self) -> Floats:
        """W, shape (models, models): row over column."""
        wins: Floats = (self.n[0] + self.n[1].T).astype(np.float64)
        return wins

    @property
    def ties(self) -> Floats:
        """T of the first kind, symmetric."""
        ties: Floats = (self.n[2] + self.n[2].T).astype(np.float64)
        return ties

    @property
    def both_bad(self) -> Floats:
        """T of the second kind, symmetric."""
        ties: Floats = (self.n[3] + self.n[3].T).astype(np.float64)
        return ties

    @property
    def votes_of_each(self) -> NDArray[np.int64]:
        """Shape (models,)."""
        votes: NDArray[np.int64] = self.n.sum(axis=(0, 2)) + self.n.sum(axis=(0, 1))
        return votes

    def without(self, some: "Counts") -> "Counts":
        """Less some of the votes, counted under the same names."""
        return Counts(self.names, self.n - some.n)

    def and_also(self, more: "Counts") -> "Counts":
        return Counts(self.names, self.n + more.n)

    @property
    def checksum(self) -> str:
        """SHA-256, in hex, that anybody with the votes can compute.

        Over the names, UTF-8, each followed by a newline, and then the counts as little-endian 64-bit integers:
        outcome by outcome, row by row.
        """
        names = "".join(f"{name}\n" for name in self.names).encode()
        return hashlib.sha256(names + self.n.astype("<i8").tobytes()).hexdigest()


def counted(
    names: list[str], left: NDArray[np.integer], right: NDArray[np.integer], outcome: NDArray[np.integer],
    n: NDArray[np.integer],
) -> Counts:  # fmt: skip
    """From rows of equal length: places in `names`, places in OUTCOMES, and how often."""
    size = len(names)
    cells = (outcome.astype(np.int64) * size + left) * size + right
    # Sums of integers are exact in floating point below 2^53, and bincount is ten times as fast as add.at.
    counts = np.bincount(cells, weights=n, minlength=len(OUTCOMES) * size * size).astype(np.int64)
    return Counts(names, counts.reshape(len(OUTCOMES), size, size))
