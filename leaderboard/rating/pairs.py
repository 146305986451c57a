"""Ordered pairs of models, and arrays of values on them.

On few models, values are matrices. On thousands that rarely met, they are arrays of the pairs with votes; only the
information and its inverse have a cell for each pair.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Indices = NDArray[np.int64]
Scalar = TypeVar("Scalar", bound=np.generic)
Number = TypeVar("Number", np.float64, np.int64)
# Index into values.
Selection = NDArray[np.int64] | tuple[NDArray[np.int64], ...]

# Matrices take less time or memory below this number of models, or with more than this share of the pairs.
MIN_MODELS_LISTED = 512
MAX_SHARE_LISTED = 0.3
_BLOCK_CELLS = 1_000_000


class Pairs(Protocol):
    """Pairs (row, column) of `models` models. A value is an element of an array on the pairs."""

    @property
    def models(self) -> int: ...

    def of_rows(self, values: NDArray[Scalar]) -> NDArray[Scalar]:
        """Return each row model's value, to be broadcast over the pairs."""

    def of_columns(self, values: NDArray[Scalar]) -> NDArray[Scalar]: ...

    def at(self, matrix: Floats) -> Floats:
        """Return the cells of a matrix."""

    def matrix(self, values: NDArray[Scalar]) -> NDArray[Scalar]:
        """Return a matrix of shape (models, models), 0 where there is no pair."""

    def row_sums(self, values: Floats | Indices) -> Floats: ...

    def column_sums(self, values: Floats | Indices) -> Floats: ...

    def row_products(self, values: Floats, vector: Floats) -> Floats:
        """Return the matrix of `values` times a vector."""

    def column_products(self, values: Floats, vector: Floats) -> Floats: ...

    def quadratic_forms(self, matrix: Floats) -> Floats:
        """Return xᵀ A x, x = e_row − e_column, of a symmetric matrix; a new array."""

    def laplacian(self, weight: Floats) -> Floats:
        """Return Σ weight · (e_row − e_column)(e_row − e_column)ᵀ, a new matrix."""

    def laplacian_blocks(self, weight: Floats) -> Iterator[tuple[slice, Floats]]:
        """Yield (slice of columns, these columns of the Laplacian)."""

    def together(self, values: Floats, *, where: Floats, sign: int = 1) -> Floats:
        """Return value[i, j] + sign · value[j, i] of each two models with a positive `where`, in either order."""

    def subset(self, models: Indices) -> tuple["Pairs", Selection]:
        """Return the pairs among ascending `models`, renumbered, and an index into values."""

    def links(self, forward: Flags, backward: Flags) -> Flags | csr_array:
        """Return a graph with an edge row → column where `forward`, and column → row where `backward`."""


@dataclass(frozen=True)
class AllPairs:
    """All pairs: values have shape (models, models)."""

    models: int

    @cached_property
    def _ones(self) -> Floats:
        return np.ones(self.models)

    def of_rows(self, values: NDArray[Scalar]) -> NDArray[Scalar]:
        return values[:, None]

    def of_columns(self, values: NDArray[Scalar]) -> NDArray[Scalar]:
        return values

    def at(self, matrix: Floats) -> Floats:
        return matrix

    def matrix(self, values: NDArray[Scalar]) -> NDArray[Scalar]:
        return values

    def row_sums(self, values: Floats | Indices) -> Floats:
        sums: Floats = values @ self._ones  # BLAS takes half the time of sum
        return sums

    def column_sums(self, values: Floats | Indices) -> Floats:
        sums: Floats = self._ones @ values
        return sums

    def row_products(self, values: Floats, vector: Floats) -> Floats:
        return values @ vector

    def column_products(self, values: Floats, vector: Floats) -> Floats:
        return vector @ values

    def quadratic_forms(self, matrix: Floats) -> Floats:
        return quadratic_forms(matrix)

    def laplacian(self, weight: Floats) -> Floats:
        return laplacian(symmetrized(weight))

    def laplacian_blocks(self, weight: Floats) -> Iterator[tuple[slice, Floats]]:
        matrix = self.laplacian(weight)
        for block in row_blocks(*matrix.shape):
            yield block, matrix[:, block]

    def together(self, values: Floats, *, where: Floats, sign: int = 1) -> Floats:
        both: Floats = (values + sign * values.T)[np.triu(symmetrized(where) > 0)]
        return both

    def subset(self, models: Indices) -> tuple["AllPairs", Selection]:
        return AllPairs(len(models)), np.ix_(models, models)

    def links(self, forward: Flags, backward: Flags) -> Flags:
        return forward | backward.T


@dataclass(frozen=True)
class ListedPairs:
    """Pairs (rows[k], columns[k]): values have shape (pairs,)."""

    models: int
    rows: NDArray[np.integer]
    columns: NDArray[np.integer]

    @classmethod
    def of_cells(cls, models: int, cells: Indices) -> Self:
        """Build from cells row · models + column."""
        rows, columns = np.divmod(cells, models)
        return cls(models, rows.astype(np.int32), columns.astype(np.int32))

    @property
    def cells(self) -> Indices:
        return self.rows.astype(np.int64) * self.models + self.columns

    def of_rows(self, values: NDArray[Scalar]) -> NDArray[Scalar]:
        taken: NDArray[Scalar] = values[self.rows]
        return taken

    def of_columns(self, values: NDArray[Scalar]) -> NDArray[Scalar]:
        taken: NDArray[Scalar] = values[self.columns]
        return taken

    def at(self, matrix: Floats) -> Floats:
        cells: Floats = matrix[self.rows, self.columns]
        return cells

    def matrix(self, values: NDArray[Scalar]) -> NDArray[Scalar]:
        matrix = np.zeros((self.models, self.models), dtype=values.dtype)
        matrix[self.rows, self.columns] = values
        return matrix

    def row_sums(self, values: Floats | Indices) -> Floats:
        return np.bincount(self.rows, values, self.models).astype(np.float64, copy=False)

    def column_sums(self, values: Floats | Indices) -> Floats:
        return np.bincount(self.columns, values, self.models).astype(np.float64, copy=False)

    def row_products(self, values: Floats, vector: Floats) -> Floats:
        return self.row_sums(values * vector[self.columns])

    def column_products(self, values: Floats, vector: Floats) -> Floats:
        return self.column_sums(values * vector[self.rows])

    def quadratic_forms(self, matrix: Floats) -> Floats:
        own = matrix.diagonal()
        forms: Floats = own[self.rows] + own[self.columns]
        across = self.at(matrix)
        for _ in range(2):
            forms -= across
        return forms

    def laplacian(self, weight: Floats) -> Floats:
        matrix = np.zeros((self.models, self.models))
        matrix[self.rows, self.columns] = -weight
        matrix[self.columns, self.rows] -= weight  # a pair is listed once, so no cell is written twice
        matrix[np.diag_indices(self.models)] += self.row_sums(weight) + self.column_sums(weight)
        return matrix

    def laplacian_blocks(self, weight: Floats) -> Iterator[tuple[slice, Floats]]:
        degrees = self.row_sums(weight) + self.column_sums(weight)
        for block in row_blocks(self.models, self.models):
            own = np.arange(self.models)[block]
            columns = np.zeros((self.models, len(own)))
            for one, other in ((self.rows, self.columns), (self.columns, self.rows)):
                inside = np.flatnonzero((one >= own[0]) & (one <= own[-1]))
                columns[other[inside], one[inside] - own[0]] -= weight[inside]
            columns[own, own - own[0]] += degrees[own]
            yield block, columns

    def together(self, values: Floats, *, where: Floats, sign: int = 1) -> Floats:
        met = where > 0
        low, high = (extreme(self.rows, self.columns)[met].astype(np.int64) for extreme in (np.minimum, np.maximum))
        _, pair = np.unique(low * self.models + high, return_inverse=True)
        signed = np.where(self.rows < self.columns, values, sign * values)[met]
        return np.bincount(pair, signed).astype(np.float64, copy=False)

    def subset(self, models: Indices) -> tuple["ListedPairs", Selection]:
        index = np.full(self.models, -1, dtype=np.int32)
        index[models] = np.arange(len(models))
        kept = np.flatnonzero((index[self.rows] >= 0) & (index[self.columns] >= 0))
        return ListedPairs(len(models), index[self.rows[kept]], index[self.columns[kept]]), kept

    def links(self, forward: Flags, backward: Flags) -> csr_array:
        begin = np.concatenate([self.rows[forward], self.columns[backward]])
        end = np.concatenate([self.columns[forward], self.rows[backward]])
        return csr_array((np.ones(len(begin), dtype=np.int8), (begin, end)), shape=(self.models, self.models))


def row_blocks(rows: int, columns: int) -> Iterator[slice]:
    """Yield slices of a matrix's rows, to calculate without another matrix."""
    step = max(1, _BLOCK_CELLS // max(columns, 1))
    for begin in range(0, rows, step):
        yield slice(begin, begin + step)


def symmetrized(cells: NDArray[Number]) -> NDArray[Number]:
    both: NDArray[Number] = cells + cells.T
    return both


def quadratic_forms(matrix: Floats) -> Floats:
    """Return xᵀ A x for every pair, x = e_i − e_j, shape (models, models)."""
    own = matrix.diagonal()
    forms: Floats = own[:, None] + own
    for _ in range(2):  # without another array
        forms -= matrix
    return forms


def laplacian(weight: Floats) -> Floats:
    """Return Σ over pairs of weight · (e_i − e_j)(e_i − e_j)ᵀ; weight: symmetric with zero diagonal."""
    matrix = -weight
    matrix[np.diag_indices(len(weight))] += weight.sum(axis=1)
    return matrix
