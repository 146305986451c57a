"""A short run of tools.chaos; `make chaos` runs longer."""

import pytest

from tools.chaos.play import play, summary


@pytest.mark.faults
def test_eight_seconds_of_kills_leave_data_consistent():
    tally, kills = play(8, seed=1)
    assert tally.complaints == [], summary(1, 8, tally, kills)
    assert sum(kills.values()) >= 3
    assert len(tally.acknowledged) >= 10
