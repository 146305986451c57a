import numpy as np
import pytest
from django.db import DataError

from leaderboard.counting import columns
from leaderboard.counting.columns import Column, read_columns, read_columns_by

pytestmark = pytest.mark.django_db
LARGEST = 2**31 - 1
ROWS = [(-(2**63), 0, LARGEST, 3, 0), (2**63 - 1, LARGEST, 0, 0, LARGEST), (0, 7, 8, 2, 1), (-1, 7, 9, 1, 4)]
COLUMNS = {"any": Column("a", 8), "left": Column("b"), "right": Column("c"), "outcome": Column("d"), "n": Column("e")}
SOURCE = f"FROM (VALUES {', '.join(map(str, ROWS))}) AS row (a, b, c, d, e) WHERE e >= %(least)s"


def as_rows(columns) -> list[tuple[int, ...]]:
    return sorted(zip(*(columns[name].tolist() for name in COLUMNS), strict=True))


def test_read_columns_returns_exact_integers():
    assert as_rows(read_columns(COLUMNS, SOURCE, {"least": 0})) == sorted(ROWS)


def test_read_columns_in_parts_returns_every_row(monkeypatch):
    monkeypatch.setattr(columns, "ROWS_PER_READ", 2**30)
    assert as_rows(read_columns(COLUMNS, SOURCE, {"least": 0}, numbered_by="e")) == sorted(ROWS)
    monkeypatch.setattr(columns, "ROWS_PER_READ", 2)
    few = SOURCE.replace("e >=", "e < 9 AND e >=")
    assert as_rows(read_columns(COLUMNS, few, {"least": 0}, numbered_by="e")) == sorted(
        row for row in ROWS if row[4] < 9
    )


def test_read_columns_by_groups_rows_by_key():
    columns_by_key = read_columns_by("b", COLUMNS, SOURCE, {"least": 0})
    assert {value: as_rows(rows) for value, rows in columns_by_key.items()} == {
        value: sorted(row for row in ROWS if row[1] == value) for value in (0, 7, LARGEST)
    }


def test_read_columns_refuses_too_large_integer():
    with pytest.raises(DataError, match="out of range"):
        read_columns({"n": Column("n")}, f"FROM (VALUES ({LARGEST + 1})) AS row (n)", {})


def test_read_columns_without_rows_returns_empty_arrays():
    columns = read_columns(COLUMNS, SOURCE, {"least": 2**31}, numbered_by="e")
    assert all(len(column) == 0 and column.dtype == np.int64 for column in columns.values())
    assert read_columns_by("b", COLUMNS, SOURCE, {"least": 2**31}) == {}
