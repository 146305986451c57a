"""CSV tables without errors, read by columns: distinct cells are parsed once."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC
from functools import partial
from pathlib import Path
from typing import cast

import numpy as np
from arro3.core import Array, DataType, Field, RecordBatch, Schema, dictionary_dictionary, dictionary_indices
from arro3.io import read_csv
from numpy.typing import NDArray

from leaderboard.imports import tables
from leaderboard.rating.outcomes import OUTCOMES

# A million votes take 0.2 to 0.9 s of processor time; `tables.read_table`, by rows, takes 12 to 16 s.
BATCH = 250_000
_WORDS = DataType.dictionary(DataType.int32(), DataType.string())
_NO_MOMENT = np.array(["NaT"], dtype="M8[us]")
_STYLE = [f"{column}_{side}" for side in "ab" for column in tables.STYLE_COLUMNS.values()]
_OUTCOME_INDEX = {outcome: index for index, outcome in enumerate(OUTCOMES)}

# Seconds since 1970 between 2001 and 2286; never a date in ISO 8601, as an hour has two digits.
_SECONDS = re.compile(r"(?:\d{10}(?:\.\d+)? )*+")

_ParseAll = Callable[[list[str | None]], list[str]]
Indices = NDArray[np.int64]
Moments = NDArray[np.datetime64]


class NeedsRows(Exception):
    """Raised when the table has to be read by rows, which names its bad lines."""


@dataclass
class WordList:
    words: list[str] = field(default_factory=list)
    _index: dict[str, int] = field(default_factory=dict)
    _index_by_cell: dict[str | None, int] = field(default_factory=dict)

    def indices(self, cells: list[str | None], parse: _ParseAll) -> Indices:
        known, index = self._index_by_cell, self._index
        new = [cell for cell in cells if cell not in known]
        for cell, word in zip(new, parse(new), strict=True):
            known[cell] = index.setdefault(word, len(index))
            if known[cell] == len(self.words):
                self.words.append(word)
        return np.fromiter(map(known.__getitem__, cells), np.int64, len(cells))


@dataclass(frozen=True)
class VoteColumns:
    """Votes of a batch in the table's order; arrays of shape (rows,), indices in the word lists of TableColumns.

    outcome: in OUTCOMES; n: equal votes; created_at: in UTC, NaT if missing. style: the left side's STYLE_COUNTS, then
    the right side's, shape (rows, 8); has_style: False where all are missing.
    """

    left: Indices
    right: Indices
    outcome: Indices
    n: Indices
    voter: Indices
    category: Indices
    created_at: Moments
    style: Indices
    has_style: NDArray[np.bool_]


class TableColumns:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.names, self.voters, self.categories = WordList(), WordList(), WordList()
        self.total = 0

    def batches(self) -> Iterator[VoteColumns]:
        """Yield the votes in batches of about BATCH lines. Raises NeedsRows, NotATable and OSError."""
        if self.path.suffix.lower() not in tables.SEPARATORS:
            raise NeedsRows
        heading = tables.read_heading(self.path)
        read = tables.line_reader(dict.fromkeys(heading.columns))
        types = (DataType.string() if column == "tstamp" else _WORDS for column in heading.columns)
        schema = Schema([Field(f"{index}", kind) for index, kind in enumerate(types)])
        try:
            for batch in read_csv(self.path, schema, has_header=True, delimiter=heading.separator, batch_size=BATCH):
                cells = _Cells(heading.columns, batch)
                yield self._counts(cells) if read is tables.read_counts else self._single_votes(cells)
        except tables.InvalidLine as error:
            raise NeedsRows from error
        except NeedsRows:
            raise
        except Exception as error:  # this library raises nothing more exact
            raise NeedsRows from error
        if not self.total:
            raise NeedsRows

    def _single_votes(self, cells: "_Cells") -> VoteColumns:
        left, right = self._sides(cells)
        outcome = cells.parsed("winner", lambda word: _OUTCOME_INDEX[tables.outcome({"winner": word})])
        style = np.zeros((len(left), len(_STYLE)), dtype=np.int64)
        has_style = np.zeros(len(left), dtype=bool)
        for position, column in enumerate(_STYLE):
            if column in cells:
                style[:, position] = cells.parsed(column, partial(_number, column))
                has_style |= cells.parsed(column, lambda word: int(word is not None)).astype(bool)
        return VoteColumns(
            left,
            right,
            outcome,
            self._count(np.ones(len(left), dtype=np.int64)),
            cells.indices("judge", self.voters, partial(tables.words, "judge")),
            cells.indices("category", self.categories, _categories),
            cells.moments("tstamp"),
            style,
            has_style,
        )

    def _counts(self, cells: "_Cells") -> VoteColumns:
        left, right = self._sides(cells)
        counts = np.zeros((len(left), len(OUTCOMES)), dtype=np.int64)
        for column, outcome in tables.COUNTS.items():
            counts[:, _OUTCOME_INDEX[outcome]] = cells.parsed(column, partial(_number, column))
        if not counts.any(axis=1).all():
            raise NeedsRows
        # Equal votes of a line follow each other in the order of COUNTS, as on the row path.
        order = [_OUTCOME_INDEX[outcome] for outcome in tables.COUNTS.values()]
        row, position = np.nonzero(counts[:, order])
        outcomes = np.array(order)[position]
        nothing = np.zeros(len(row), dtype=np.int64)
        for words in (self.voters, self.categories):
            words.indices([None], lambda new: [""] * len(new))
        return VoteColumns(
            left[row],
            right[row],
            outcomes,
            self._count(counts[row, outcomes]),
            voter=nothing,
            category=nothing,
            created_at=_NO_MOMENT[nothing],
            style=np.zeros((len(row), len(_STYLE)), dtype=np.int64),
            has_style=nothing.astype(bool),
        )

    def _sides(self, cells: "_Cells") -> tuple[Indices, Indices]:
        left, right = (
            cells.indices(column, self.names, partial(tables.words, column, max_length=tables.MAX_NAME_LENGTH))
            for column in ("model_a", "model_b")
        )
        if "" in self.names.words or (left == right).any():
            raise NeedsRows
        return left, right

    def _count(self, n: Indices) -> Indices:
        self.total += int(n.sum())
        if self.total > tables.MAX_COUNT:
            raise NeedsRows
        return n


def _categories(words: list[str | None]) -> list[str]:
    return [tables.category({"category": word}) for word in words]


def _number(column: str, word: str | None) -> int:
    return tables.number(word, column)


def _moments(array: Array) -> Moments:
    """Return tables.time of each cell, in microseconds."""
    words = cast(list[str | None], array.to_pylist())
    if not array.null_count and _SECONDS.fullmatch(" ".join(cast(list[str], words)) + " "):
        fraction, seconds = np.modf(array.cast(DataType.float64()).to_numpy())
        # datetime.fromtimestamp rounds in the same way.
        microseconds = seconds.astype(np.int64) * 1_000_000 + np.rint(fraction * 1e6).astype(np.int64)
        result: Moments = microseconds.astype("M8[us]")
        return result
    moments = [tables.time(word) for word in words]
    return np.array([moment and moment.astimezone(UTC).replace(tzinfo=None) for moment in moments], dtype="M8[us]")


class _Cells:
    """Cells of a batch; a missing column has empty ones."""

    def __init__(self, columns: list[str], batch: RecordBatch) -> None:
        self._rows = batch.num_rows
        self._arrays: dict[str, Array] = dict(zip(columns, batch.columns, strict=True))

    def __contains__(self, column: str) -> bool:
        return column in self._arrays

    def distinct(self, column: str) -> tuple[list[str | None], Indices]:
        """Return distinct cells, None for empty ones, and rows' indices."""
        array = self._arrays.get(column)
        if array is None:
            return [None], np.zeros(self._rows, dtype=np.int64)
        index, words = dictionary_indices(array), cast(list[str | None], dictionary_dictionary(array).to_pylist())
        if not array.null_count:
            return words, np.array(index.to_numpy(), dtype=np.int64)
        empty = len(words)
        return [*words, None], np.array([empty if i is None else i for i in index.to_pylist()], dtype=np.int64)

    def moments(self, column: str) -> Moments:
        array = self._arrays.get(column)
        if array is None or array.null_count == self._rows:
            return np.repeat(_NO_MOMENT, self._rows)
        return _moments(array)

    def parsed(self, column: str, parse: Callable[[str | None], int]) -> Indices:
        words, index = self.distinct(column)
        numbers: Indices = np.array([parse(word) for word in words], dtype=np.int64)[index]
        return numbers

    def indices(self, column: str, words: WordList, parse: _ParseAll) -> Indices:
        cells, index = self.distinct(column)
        indices: Indices = words.indices(cells, parse)[index]
        return indices
