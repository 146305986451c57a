"""Many rows of integers out of PostgreSQL at once: packed there, unpacked by numpy, no Python object per row."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from leaderboard.rating.counts import OUTCOMES

# A value ends at 1 GB: sources of many millions of rows are cut into pieces.
PIECE = 5_000_000

Integers = NDArray[np.integer[Any]]


def place_of_outcome(column: str) -> tuple[str, int]:
    """For read_packed: the place of `column` in OUTCOMES."""
    places = " ".join(f"WHEN '{outcome}' THEN {place}" for place, outcome in enumerate(OUTCOMES))
    return f"CASE {column} {places} END", 2


def read_packed(
    columns: Mapping[str, tuple[str, int]], source: str, parameters: Mapping[str, Any], *, piece: str = "1"
) -> dict[str, Integers]:
    """Arrays by name, in no order. columns: {name: (SQL expression that is never null, bytes: 2, 4 or 8)}.

    `source` begins with FROM; `piece` is an expression of which each value's rows fit into 1 GB.
    """
    pieces = list(read_pieces(columns, source, parameters, piece=piece).values())
    nothing = {name: np.zeros(0, f"i{size}") for name, (_, size) in columns.items()}
    return {name: np.concatenate([none, *(rows[name] for rows in pieces)]) for name, none in nothing.items()}


def read_pieces(
    columns: Mapping[str, tuple[str, int]], source: str, parameters: Mapping[str, Any], *, piece: str
) -> dict[Any, dict[str, Integers]]:
    """As read_packed, by the value of `piece`."""
    packed = " || ".join(f"int{size}send(({said})::int{size})" for said, size in columns.values())
    layout = np.dtype([(name, f">i{size}") for name, (_, size) in columns.items()])
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {piece}, string_agg({packed}, ''::bytea) {source} GROUP BY 1", parameters)
        found = {key: np.frombuffer(rows, layout) for key, rows in cursor.fetchall()}
    return {
        key: {name: rows[name].astype(f"i{size}") for name, (_, size) in columns.items()} for key, rows in found.items()
    }
