import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from leaderboard.rating.outcomes import OUTCOMES
from leaderboard.rating.pairs import (
    MAX_SHARE_LISTED,
    MIN_MODELS_LISTED,
    AllPairs,
    Floats,
    Indices,
    ListedPairs,
    Pairs,
    symmetrized,
)


@dataclass(frozen=True)
class Counts:
    """n[k, i, j]: votes with OUTCOMES[k], names[i] on the left, names[j] on the right; names: sorted.

    With `listed` pairs, n[k, pair]: thousands of models rarely met.
    """

    names: list[str]
    n: NDArray[np.int64]
    listed: ListedPairs | None = None

    @classmethod
    def of_cells(cls, names: list[str], cells: Indices, n: Indices | None = None) -> Self:
        """Sum `n` (1 without it) by cells (outcome · models + left) · models + right, in any order."""
        models = len(names)
        if models >= MIN_MODELS_LISTED:
            met = np.unique(cells % models**2)
            if len(met) <= MAX_SHARE_LISTED * models**2:
                outcome, pair = np.divmod(cells, models**2)
                counts = _sums(outcome * len(met) + np.searchsorted(met, pair), n, (len(OUTCOMES), len(met)))
                return cls(names, counts, ListedPairs.of_cells(models, met))
        return cls(names, _sums(cells, n, (len(OUTCOMES), models, models)))

    def with_cells(self, cells: Indices, n: Indices) -> "Counts":
        """Add `n` to cells, as of_cells has them; no cell twice."""
        if len(self.names) < MIN_MODELS_LISTED:
            counts = self.n.copy()
            counts.reshape(-1)[cells] += n
            return Counts(self.names, counts)
        own, votes = self.cells
        return Counts.of_cells(self.names, np.concatenate([own, cells]), np.concatenate([votes, n]))

    @property
    def pairs(self) -> Pairs:
        return self.listed or AllPairs(len(self.names))

    @property
    def cells(self) -> tuple[Indices, Indices]:
        """Cells with votes, as of_cells has them, in ascending order, and their votes."""
        cells = np.flatnonzero(self.n)
        votes = self.n.ravel()[cells]
        if self.listed:
            outcome, pair = np.divmod(cells, len(self.listed.rows))
            cells = outcome * len(self.names) ** 2 + self.listed.cells[pair]
        return cells, votes

    @property
    def total(self) -> int:
        return int(self.n.sum())

    @property
    def wins(self) -> Floats:
        """Wins of row over column, shape (models, models)."""
        left, right = (self.pairs.matrix(n.astype(np.float64)) for n in self.n[:2])
        wins: Floats = left + right.T
        return wins

    @property
    def ties(self) -> Floats:
        """Ties without "both bad", shape (models, models), symmetric."""
        return symmetrized(self.pairs.matrix(self.n[2].astype(np.float64)))

    @property
    def both_bad(self) -> Floats:
        """Votes for "both bad", shape (models, models), symmetric."""
        return symmetrized(self.pairs.matrix(self.n[3].astype(np.float64)))

    @property
    def meetings(self) -> Floats:
        """Votes of each two models, shape (models, models), symmetric."""
        return symmetrized(self.pairs.matrix(self.n.sum(axis=0).astype(np.float64)))

    @property
    def by_side(self) -> tuple[Indices, Indices]:
        """Votes by outcome and left model, and by outcome and right model, shape (outcomes, models)."""
        left, right = (
            np.array([sums(n) for n in self.n], dtype=np.int64)
            for sums in (self.pairs.row_sums, self.pairs.column_sums)
        )
        return left, right

    @property
    def votes_per_model(self) -> NDArray[np.int64]:
        left, right = self.by_side
        votes: NDArray[np.int64] = left.sum(axis=0) + right.sum(axis=0)
        return votes

    def minus(self, other: "Counts") -> "Counts":
        """Return the counts without those of `other`, which has the same names."""
        return self._sum((self, 1), (other, -1))

    def plus(self, other: "Counts") -> "Counts":
        return self._sum((self, 1), (other, 1))

    def _sum(self, *terms: tuple["Counts", int]) -> "Counts":
        cells, votes = zip(*(counts.cells for counts, _ in terms), strict=True)
        signed = [sign * n for n, (_, sign) in zip(votes, terms, strict=True)]
        return Counts.of_cells(self.names, np.concatenate(cells), np.concatenate(signed))

    @property
    def checksum(self) -> str:
        """SHA-256 in hex of the names in UTF-8, each with a newline, then `n` as little-endian int64.

        n: shape (outcomes, models, models).
        """
        digest = hashlib.sha256("".join(f"{name}\n" for name in self.names).encode())
        for n in self.n:
            digest.update(self.pairs.matrix(n).astype("<i8", order="C", copy=False).data)
        return digest.hexdigest()


def _sums(cells: Indices, n: Indices | None, shape: Sequence[int]) -> NDArray[np.int64]:
    # Sums of integers below 2^53 are exact in floating point, and bincount is ten times as fast as add.at.
    sums = np.bincount(cells, weights=n, minlength=int(np.prod(shape)))
    return sums.astype(np.int64, copy=False).reshape(shape)


def count_votes(
    names: list[str], left: NDArray[np.integer], right: NDArray[np.integer], outcome: NDArray[np.integer],
    n: Indices,
) -> Counts:  # fmt: skip
    """Count votes; left, right: indices in `names`; outcome: indices in OUTCOMES; n: votes; shape (rows,)."""
    cells = outcome.astype(np.int64)
    for index in (left, right):
        cells *= len(names)
        cells += index
    is_single = (n[:1] == 1).all() if n.strides == (0,) else (n == 1).all()  # one broadcast number, or all
    return Counts.of_cells(names, cells, None if is_single else n)
