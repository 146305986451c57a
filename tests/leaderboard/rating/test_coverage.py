import pytest

from tests.worlds.ratings.interval_coverage import DESIGNS, coverage

# Repetitions of each design; together they take a few seconds.
SHORT = {design.name: 4 if design.votes > 100_000 else 20 if design.votes > 10_000 else 60 for design in DESIGNS}


@pytest.mark.slow
@pytest.mark.parametrize(
    "design",
    [
        pytest.param(design, marks=[pytest.mark.slow] if design.votes > 1000 else [], id=design.name)
        for design in DESIGNS
    ],
)
def test_intervals_cover_truth_at_nominal_rate(design):
    result = coverage(design, repetitions=SHORT[design.name], seed=20)
    for kind, held in result.held.items():
        # Errors of models in one arena are correlated, so there are fewer independent cases.
        if len(held) >= 200:
            assert 0.925 <= result.share(kind) <= 0.995, kind
        assert result.share(kind) >= 0.88, kind
    assert result.ranges.count(False) <= max(1, 0.1 * len(result.ranges))
