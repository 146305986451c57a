"""Parts of a report that docs/benchmarks-method.md names, and that depend on the run."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.statistics.comparison import compare_runs
from benchmarks.statistics.figures import compute_figures
from benchmarks.statistics.payload import Interval, Mean, Pair
from benchmarks.statistics.tags import MAX_TAGS
from tests.worlds.benchmarks.run_inputs import run_inputs


def coins(entrants: int, cases: int, repeats: int = 1, p: float = 0.5) -> np.ndarray:
    return (np.random.default_rng(7).random((entrants, cases, repeats)) < p).astype(float)


def first_mean(values: np.ndarray, **options: object) -> Mean:
    return compute_figures(run_inputs(values, **options)).metrics[0].means[0]


def pair(values: np.ndarray, **options: object) -> Pair:
    return compute_figures(run_inputs(values, **options)).metrics[0].pairs[0]


def test_equal_scores_without_bounds_have_no_interval():
    mean = first_mean(np.full((1, 12, 1), 7.0))
    assert (mean.mean, mean.lowest, mean.highest, mean.note) == (Interval(7.0, None, None), None, None, "all_equal")


def test_one_cluster_tells_nothing_about_others():
    mean = first_mean(coins(1, 12), clusters=["same"] * 12)
    assert (mean.mean.low, mean.mean.high, mean.note) == (0, 1, "one_cluster")


@pytest.mark.parametrize(
    ("values", "clusters", "is_exact"),
    [
        (coins(2, 20), None, True), (coins(2, 20, 3), None, False), (coins(2, 20) / 2, None, False),
        (coins(2, 20), [str(case // 2) for case in range(20)], False),
    ],
    ids=["single cases", "repeats", "fractions", "clusters"],
)  # fmt: skip
def test_exact_p_is_of_single_binary_cases(values: np.ndarray, clusters: list[str] | None, is_exact: bool):
    assert (pair(values, clusters=clusters).exact_p is not None) is is_exact


def test_difference_that_matters_decides_the_cases_needed():
    values = coins(2, 60)
    observed, small, large = (pair(values, relevant_difference=d).cases_needed for d in (None, 0.02, 0.3))
    seen = abs(pair(values).difference.value)
    assert pair(values, relevant_difference=seen).cases_needed == observed
    assert large < 60 < small


@pytest.mark.parametrize(("scored", "complete"), [(95, True), (94, False)])
def test_entrant_under_95_percent_has_no_rank(scored: int, complete: bool):
    values = coins(2, 100)
    values[0, scored:] = np.nan
    report = compute_figures(run_inputs(values))
    assert [rank.entrant for rank in report.ranks] == ["entrant 00", "entrant 01"][0 if complete else 1 :]
    assert report.metrics[0].pairs[0].difference.value is not None


def test_fifty_most_frequent_tags_are_shown():
    tags = [("all", f"rare {case}") for case in range(60)]
    report = compute_figures(run_inputs(coins(1, 60), tags=tags))
    assert MAX_TAGS == len(report.tags) == 50
    assert (report.tags[0].tag, report.tags_left_out) == ("all", 11)


def test_repeats_give_pass_rates_up_to_their_number():
    passed = coins(1, 30, 3)
    rates = compute_figures(run_inputs(passed, metrics={"passed": passed})).passes
    found = {(rate.measure, rate.k): rate.mean.value for rate in rates}
    assert {k for _measure, k in found} == {1, 2, 3}
    assert found["pass@k", 3] == pytest.approx(passed[0].max(axis=1).mean())
    assert found["pass^k", 3] == pytest.approx(passed[0].min(axis=1).mean())
    assert found["majority@k", 3] == pytest.approx((passed[0].mean(axis=1) > 0.5).mean())
    assert found["pass@k", 1] == pytest.approx(passed.mean())


def test_dearer_and_separably_worse_entrant_is_dominated():
    values = np.stack([coins(1, 60, p=0.95)[0], coins(1, 60, p=0.2)[0]])  # the second one costs twice as much
    cheap, dear = compute_figures(run_inputs(values)).usage
    assert [(one.is_surely_dominated, one.is_on_front) for one in (cheap, dear)] == [(False, True), (True, False)]
    assert cheap.cost_per_point.value < dear.cost_per_point.value


def first_items(number: float, items: int = 1) -> np.ndarray:
    """Return the number for the first items of one entrant and 20 cases, and 0 for the others."""
    values = np.zeros((1, 20, 1))
    values[0, :items] = number
    return values


def test_lost_calls_and_reused_answers_are_counted_apart():
    inputs = run_inputs(coins(1, 20))
    cost = np.where(first_items(1) > 0, np.nan, 0.01)  # a reused answer has none
    found = {"lost_cost": first_items(0.5), "lost_calls": first_items(2), "is_reused": first_items(1), "cost": cost}
    [usage] = compute_figures(replace(inputs, usage=replace(inputs.usage, **found))).usage
    assert (usage.cost, usage.lost_cost, usage.lost_calls, usage.reused) == (pytest.approx(0.19), 0.5, 2, 1)


def test_comparison_counts_reused_cases():
    older = run_inputs(coins(1, 20))
    newer = replace(older, usage=replace(older.usage, is_reused=first_items(1, items=3)))
    assert [compare_runs(older, one).entrants[0].reused_cases for one in (older, newer)] == [0, 3]
