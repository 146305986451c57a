"""Many rows of integers out of PostgreSQL at once, as numpy arrays, without a Python object per row.

All rows are sent as one value. COPY in binary format gives psycopg an object per row and takes ten times as long
(docs/adr/0004).
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from leaderboard.rating.counts import OUTCOMES

# A value ends at 1 GB: sources of many millions of rows are cut into pieces.
PIECE = 5_000_000

Integers = NDArray[np.int64]


class Column(NamedTuple):
    """An expression in SQL that is never null, and how many bytes its integer takes: 4 or 8."""

    sql: str
    size: int = 4


Columns = Mapping[str, Column]


def outcome_column(column: str) -> Column:
    """Return the column of places of `column` in OUTCOMES."""
    places = " ".join(f"WHEN '{outcome}' THEN {place}" for place, outcome in enumerate(OUTCOMES))
    return Column(f"CASE {column} {places} END")


def read_packed(
    columns: Columns, source: str, parameters: Mapping[str, Any], *, numbered_by: str = ""
) -> dict[str, Integers]:
    """Return arrays by name, in no order. `source` begins with FROM.

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
    """Return what read_packed does, by the value of `key`."""
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


def _packed(columns: Columns) -> str:
    sent = (f"int{column.size}send(({column.sql})::int{column.size})" for column in columns.values())
    return f"string_agg({' || '.join(sent)}, ''::bytea)"


def _unpacked(columns: Columns, rows: bytes) -> dict[str, Integers]:
    read = np.frombuffer(rows, np.dtype([(name, f">i{column.size}") for name, column in columns.items()]))
    return {name: read[name].astype(np.int64) for name in columns}
