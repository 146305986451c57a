"""Many rows of integers out of PostgreSQL at once: packed there, unpacked by numpy, no Python object per row."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from leaderboard.rating.counts import OUTCOMES

# A value ends at 1 GB: sources of many millions of rows are cut into pieces.
PIECE = 5_000_000
# Of the id of a model or contestant.
ID = 30
ANY = 64

Integers = NDArray[np.integer[Any]]
# By name, what SQL says it is, never null, and in how many bits it fits: from 0 on, unless it may be ANY.
Columns = Mapping[str, tuple[str, int]]


def place_of_outcome(column: str) -> tuple[str, int]:
    """A column: the place of `column` in OUTCOMES."""
    places = " ".join(f"WHEN '{outcome}' THEN {place}" for place, outcome in enumerate(OUTCOMES))
    return f"CASE {column} {places} END", 2


def read_packed(
    columns: Columns, source: str, parameters: Mapping[str, Any], *, numbered_by: str = ""
) -> dict[str, Integers]:
    """Arrays by name, in no order. `source` begins with FROM.

    numbered_by: the numbers of its rows, where there may be more of them than PIECE; it ends with a condition then.
    """
    with connection.cursor() as cursor:
        found = [_unpacked(columns, b"")]  # where there is no row
        for piece in _pieces(source, parameters, numbered_by):
            cursor.execute(f"SELECT {_packed(columns)} {piece}", parameters)
            [[rows]] = cursor.fetchall()
            if rows is not None:
                found.append(_unpacked(columns, rows))
    return {name: np.concatenate([rows[name] for rows in found]) for name in columns}


def read_by(key: str, columns: Columns, source: str, parameters: Mapping[str, Any]) -> dict[Any, dict[str, Integers]]:
    """As read_packed, by the value of `key`."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {key}, {_packed(columns)} {source} GROUP BY 1", parameters)
        return {value: _unpacked(columns, rows) for value, rows in cursor.fetchall()}


def _pieces(source: str, parameters: Mapping[str, Any], numbered_by: str) -> Iterator[str]:
    last = 0
    if numbered_by:
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT max({numbered_by}) {source}", parameters)
            last = cursor.fetchone()[0] or 0
    if last < PIECE:
        yield source
        return
    for start in range(0, last + 1, PIECE):
        yield f"{source} AND {numbered_by} >= {start} AND {numbered_by} < {start + PIECE}"


class _Word(NamedTuple):
    """Columns that share an integer of 8 bytes, or of 4 where that will do; by name, where their bits begin."""

    places: dict[str, int]
    bits: int

    @property
    def size(self) -> int:
        return 4 if self.bits < 32 else 8


def _words(columns: Columns) -> list[_Word]:
    """Packing costs by the word, and twice what reading a row does."""
    words: list[_Word] = []
    for name, (_, bits) in columns.items():
        if words and words[-1].bits + bits < ANY:
            last = words.pop()
            words.append(_Word({**last.places, name: last.bits}, last.bits + bits))
        else:
            words.append(_Word({name: 0}, bits))
    return words


def _packed(columns: Columns) -> str:
    sent = []
    for word in _words(columns):
        parts = " | ".join(f"(({columns[name][0]})::int8 << {place})" for name, place in word.places.items())
        sent.append(f"int{word.size}send(({parts})::int{word.size})")
    return f"string_agg({' || '.join(sent)}, ''::bytea)"


def _unpacked(columns: Columns, rows: bytes) -> dict[str, Integers]:
    words = _words(columns)
    read = np.frombuffer(rows, np.dtype([(str(number), f">i{word.size}") for number, word in enumerate(words)]))
    unpacked: dict[str, Integers] = {}
    for number, word in enumerate(words):
        whole = read[str(number)].astype(np.int64)
        for name, place in word.places.items():
            bits = columns[name][1]
            unpacked[name] = whole if bits == ANY else whole >> place & (1 << bits) - 1
    return unpacked
