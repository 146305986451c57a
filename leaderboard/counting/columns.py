"""Read columns of numbers from PostgreSQL into numpy arrays; all rows are sent as one packed value."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from django.db import connection
from numpy.typing import NDArray
from psycopg.pq import Format

from leaderboard.rating.outcomes import OUTCOMES

# A PostgreSQL value has at most 1 GB, so that larger sources are read in several statements.
ROWS_PER_READ = 5_000_000

# Binary COPY takes ten times as long, because psycopg makes an object per row (docs/adr/0004).
Integers = NDArray[np.int64]
FloatColumns = dict[str, NDArray[np.float64]]


class Column(NamedTuple):
    """SQL expression that is never null, and its integer's size in bytes: 4 or 8."""

    sql: str
    size: int = 4


Columns = Mapping[str, Column]


def outcome_column(column: str) -> Column:
    """Return a column with the index of `column` in OUTCOMES."""
    cases = " ".join(f"WHEN '{outcome}' THEN {index}" for index, outcome in enumerate(OUTCOMES))
    return Column(f"CASE {column} {cases} END")


def read_columns(
    columns: Columns, source: str, parameters: Mapping[str, Any], *, numbered_by: str = ""
) -> dict[str, Integers]:
    """Return {name: array}, rows in no particular order.

    source: SQL from FROM on. numbered_by: column with row numbers, to read many rows in parts; the source must then end
    with a condition.
    """
    with connection.cursor() as cursor:
        parts = [_unpack(columns, b"")]  # empty arrays, in case there is no row
        for statement in _split_source(source, parameters, numbered_by):
            cursor.execute(f"SELECT {_packed_rows(columns)} {statement}", parameters)
            [[rows]] = cursor.fetchall()
            if rows is not None:
                parts.append(_unpack(columns, rows))
    return {name: np.concatenate([rows[name] for rows in parts]) for name in columns}


def read_columns_by(
    key: str, columns: Columns, source: str, parameters: Mapping[str, Any]
) -> dict[Any, dict[str, Integers]]:
    """Return {value of `key`: {name: array}}."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {key}, {_packed_rows(columns)} {source} GROUP BY 1", parameters)
        return {value: _unpack(columns, rows) for value, rows in cursor.fetchall()}


def read_float_columns(
    sql: str, parameters: Mapping[str, int | list[str]], names: Sequence[str], *, by: Sequence[str] = ()
) -> Iterator[tuple[tuple[str, ...], FloatColumns]]:
    """Yield a query's columns of numbers, NaN for NULL, for each combination of the texts `by`, in their order."""
    numbers = [f"string_agg(float8send(coalesce({name}::double precision, 'NaN')), '')" for name in names]
    texts = [f'{name} COLLATE "C"' for name in by]
    groups = f"GROUP BY {', '.join(texts)} ORDER BY {', '.join(texts)}" if by else "HAVING count(*) > 0"
    with connection.cursor() as cursor:
        cursor.cursor.format = Format.BINARY  # half of the hexadecimal text
        cursor.execute(f"SELECT {', '.join([*texts, *numbers])} FROM ({sql}) AS found {groups}", dict(parameters))  # noqa: S608
        for row in cursor:
            columns = (np.frombuffer(column, dtype=">f8").astype(float) for column in row[len(by) :])
            yield tuple(row[: len(by)]), dict(zip(names, columns, strict=True))


def _split_source(source: str, parameters: Mapping[str, Any], numbered_by: str) -> Iterator[str]:
    last = 0
    if numbered_by:
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT max({numbered_by}) {source}", parameters)
            last = cursor.fetchone()[0] or 0
    if last < ROWS_PER_READ:
        yield source
        return
    for start in range(0, last + 1, ROWS_PER_READ):
        yield f"{source} AND {numbered_by} >= {start} AND {numbered_by} < {start + ROWS_PER_READ}"


def _packed_rows(columns: Columns) -> str:
    values = (f"int{column.size}send(({column.sql})::int{column.size})" for column in columns.values())
    return f"string_agg({' || '.join(values)}, ''::bytea)"


def _unpack(columns: Columns, rows: bytes) -> dict[str, Integers]:
    table = np.frombuffer(rows, np.dtype([(name, f">i{column.size}") for name, column in columns.items()]))
    return {name: table[name].astype(np.int64) for name in columns}
