"""A short chaos; `make chaos` makes a longer one."""

import pytest

from tools.chaos.play import play, summary


@pytest.mark.faults
def test_twelve_seconds_of_kills_leave_the_books_in_order():
    tally, kills = play(12, seed=1)
    assert tally.complaints == [], summary(1, 12, tally, kills)
    assert sum(kills.values()) >= 3
    assert len(tally.acknowledged) >= 10
