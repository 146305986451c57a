"""Numbers come out of the database as they are in it, however they are packed on the way."""

import numpy as np
import pytest

from leaderboard.counting import columns
from leaderboard.counting.columns import ANY, ID, read_by, read_packed

pytestmark = pytest.mark.django_db
ROWS = [(-(2**63), 0, 2**ID - 1, 3, 0), (2**63 - 1, 2**ID - 1, 0, 0, 2**31 - 1), (0, 7, 8, 2, 1), (-1, 7, 9, 1, 4)]
COLUMNS = {"any": ("a", ANY), "left": ("b", ID), "right": ("c", ID), "outcome": ("d", 2), "n": ("e", 31)}
SOURCE = f"FROM (VALUES {', '.join(map(str, ROWS))}) AS row (a, b, c, d, e) WHERE e >= %(least)s"


def as_rows(found) -> list[tuple[int, ...]]:
    return sorted(zip(*(found[name].tolist() for name in COLUMNS), strict=True))


def test_every_number_arrives_whole():
    assert as_rows(read_packed(COLUMNS, SOURCE, {"least": 0})) == sorted(ROWS)


def test_also_where_they_are_too_many_for_one_piece(monkeypatch):
    monkeypatch.setattr(columns, "PIECE", 2**30)
    assert as_rows(read_packed(COLUMNS, SOURCE, {"least": 0}, numbered_by="e")) == sorted(ROWS)
    monkeypatch.setattr(columns, "PIECE", 2)
    few = SOURCE.replace("e >=", "e < 9 AND e >=")
    assert as_rows(read_packed(COLUMNS, few, {"least": 0}, numbered_by="e")) == sorted(
        row for row in ROWS if row[4] < 9
    )


def test_or_by_the_value_of_something():
    found = read_by("b", COLUMNS, SOURCE, {"least": 0})
    assert {value: as_rows(rows) for value, rows in found.items()} == {
        value: sorted(row for row in ROWS if row[1] == value) for value in (0, 7, 2**ID - 1)
    }


def test_of_nothing_there_are_no_numbers():
    found = read_packed(COLUMNS, SOURCE, {"least": 2**31}, numbered_by="e")
    assert all(len(column) == 0 and column.dtype == np.int64 for column in found.values())
    assert read_by("b", COLUMNS, SOURCE, {"least": 2**31}) == {}
