import numpy as np
import pytest

from tests.worlds.benchmarks.coverage import (
    CELLS,
    FRACTIONS,
    JOINT,
    UNEQUAL,
    joint_coverage,
    mean_coverage,
    quantile_coverage,
    separated_after_more_cases,
    separated_after_more_repeats,
)


@pytest.mark.parametrize("design", [*CELLS, *UNEQUAL, *FRACTIONS], ids=lambda design: design.name)
def test_intervals_of_means_cover_truth(design):
    held, _ = mean_coverage(design, repetitions=400, seed=3)
    assert np.mean(held["report"]) >= 0.9


@pytest.mark.slow
@pytest.mark.parametrize("design", JOINT[1:3], ids=lambda design: design.name)
def test_joint_statements_hold(design):
    held = joint_coverage(design, repetitions=30, seed=3)
    del held["single differences, plain t"]  # only measured beside the others
    assert {name: np.mean(values) >= 0.85 for name, values in held.items()} == dict.fromkeys(held, True)


def test_told_number_of_cases_separates_four_in_five():
    separated = separated_after_more_cases((0.8, 0.7), 60, is_known=True, repetitions=250, seed=3)
    assert len(separated) > 200
    assert 0.7 <= np.mean(separated) <= 0.9


@pytest.mark.parametrize("cases", [40, 100])
def test_told_number_of_repeats_separates_four_in_five(cases):
    rates = {40: (0.65, 0.5), 100: (0.6, 0.5)}[cases]
    separated = separated_after_more_repeats(rates, cases, first=2, own=0.05, shared=0.2, repetitions=150, seed=3)
    assert len(separated) > 60
    assert np.mean(separated) >= 0.8


def test_repeats_are_not_told_where_they_do_not_help():
    separated = separated_after_more_repeats((0.56, 0.5), 200, first=2, own=0.3, shared=0.4, repetitions=100, seed=3)
    assert len(separated) <= 5


def test_intervals_of_quantiles_cover_truth():
    assert np.mean(quantile_coverage(0.95, cases=100, repeats=3, repetitions=300, seed=3)) >= 0.92
