import numpy as np
import pytest
from scipy.stats import studentized_range

from benchmarks.statistics.averages import TemplateMean, average, averages
from benchmarks.statistics.clusters import Clusters
from benchmarks.statistics.comparison import compare_runs
from benchmarks.statistics.figures import compute_figures
from benchmarks.statistics.multiple import step_down
from benchmarks.statistics.paired import all_pairs
from benchmarks.statistics.quantiles import quantile
from benchmarks.statistics.run_against_run import difference_of_runs, flips, match_cases
from benchmarks.statistics.sample_sizes import cases_to_separate, detectable_difference, repeats_to_separate
from benchmarks.statistics.tags import holm_of_tags, tag_means
from benchmarks.statistics.usage import cost_per_point, pareto_front
from tests.worlds.benchmarks.run_inputs import run_inputs, scores


def orthogonal_influence(entrants, clusters=200):
    """Return influence of uncorrelated means of equal variance, shape (entrants, clusters)."""
    rng = np.random.default_rng(1)
    return np.linalg.qr(rng.normal(size=(clusters, entrants)))[0].T


@pytest.mark.slow
def test_joint_bound_of_equal_variances_is_tukeys():
    pairs = all_pairs(6)
    for df, tolerance in ((30.0, 0.06), (5000.0, 0.03)):
        bound = step_down(np.zeros(15), df, orthogonal_influence(6), *pairs).bound
        # Tukey's variance is common to all pairs: with few degrees of freedom separate ones give a larger maximum.
        assert bound == pytest.approx(studentized_range.ppf(0.95, 6, df) / np.sqrt(2), rel=tolerance)


def test_step_down_separates_more_than_the_first_bound():
    first, second = all_pairs(6)
    strength = np.array([20, 10, 0, 0, 0, 0.0])
    statistic = strength[first] - strength[second]
    plain = step_down(statistic, 5000.0, orthogonal_influence(6), first, second)
    statistic[-1] = plain.bound - 0.05  # only steps after the first one separate this pair
    stepped = step_down(statistic, 5000.0, orthogonal_influence(6), first, second)
    assert (stepped.is_above.sum(), stepped.is_below.sum()) == (10, 0)


def test_rank_ranges_and_best_group_follow_joint_comparisons():
    rng = np.random.default_rng(4)
    p = np.array([0.95, 0.94, 0.6, 0.2])
    report = compute_figures(run_inputs((rng.random((4, 300, 1)) < p[:, None, None]).astype(float), baseline=3))
    assert [(rank.best, rank.worst, rank.is_in_best_group) for rank in report.ranks] == [
        (1, 2, True), (1, 2, True), (3, 3, False), (4, 4, False),
    ]  # fmt: skip
    metric = report.metrics[0]
    assert [pair.is_separable for pair in metric.against_baseline] == [True, True, True]
    assert 1.96 < metric.baseline_bound < metric.bound


def test_secondary_metrics_share_one_holm_family():
    rng = np.random.default_rng(4)
    values = rng.random((3, 40, 1))
    others = {"b": rng.random((3, 40, 1)), "c": rng.random((3, 40, 1))}
    metrics = compute_figures(run_inputs(values, metrics=others)).metrics
    assert [metric.metric for metric in metrics] == ["score", "b", "c"]
    assert {pair.holm_p for pair in metrics[0].pairs} == {None}
    secondary = [pair for metric in metrics[1:] for pair in metric.pairs]
    smallest = min(secondary, key=lambda pair: pair.p)
    assert smallest.holm_p == pytest.approx(min(1, 6 * smallest.p))


def test_needed_cases_solve_their_equation():
    cases = cases_to_separate(0.25, 0.1)
    assert cases == 198
    assert detectable_difference(0.25, cases) <= 0.1 < detectable_difference(0.25, cases - 1)
    assert cases_to_separate(0.25, 0.0) is None
    assert cases_to_separate(0.25, 1e-9) is None


def test_needed_repeats_help_only_against_their_own_noise():
    assert repeats_to_separate(0.05, 0.2, 200, 0.06, repeats=2, df=199) == 8
    assert repeats_to_separate(0.5, 0.2, 200, 0.06, repeats=2, df=199) is None


def test_noise_names_repeats_or_cases():
    rng = np.random.default_rng(6)
    coins = (rng.random((2, 200, 4)) < 0.5).astype(float)
    fixed = np.repeat((rng.random((2, 200, 1)) < 0.5).astype(float), 4, axis=2)
    named = {
        name: compute_figures(run_inputs(values)).metrics[0].pairs[0].noise
        for name, values in (("coins", coins), ("fixed", fixed), ("once", coins[:, :, :1]))
    }
    assert named == {"coins": "repeats", "fixed": "cases", "once": "unknown"}


def test_runs_are_matched_by_digest():
    matched = match_cases(["a", "b", "b", "c"], ["b", "d", "a", "b"])
    assert (list(matched.older), list(matched.newer), matched.new, matched.gone) == ([1, 0, 2], [0, 2, 3], 1, 1)
    older = scores([[1, 0, 1, 0.0]])
    newer = scores([[0, 1, 0, 0.0]])
    difference = difference_of_runs(older, newer, (0, 0), matched)
    assert (difference.difference[0], difference.cases[0]) == (pytest.approx(-2 / 3), 3)


def test_report_of_two_runs_lists_flips_and_adjusts_p():
    rng = np.random.default_rng(9)
    before = (rng.random((3, 60, 2)) < 0.8).astype(float)
    after = before.copy()
    after[1, :12] = 0
    older = run_inputs(before, metrics={"passed": before}, weights=[1.0] * 59 + [0.0])
    newer = run_inputs(after, metrics={"passed": after})
    comparison = compare_runs(older, newer)
    assert (comparison.matched, comparison.new, comparison.gone) == (59, 1, 0)
    same, broken, _ = comparison.entrants
    assert (same.broken, same.mended, same.difference.value) == ([], [], 0)
    assert same.difference.low < 0 < same.difference.high
    assert broken.broken == [f"case {case:05}" for case in range(12) if before[1, case].all()]
    assert broken.difference.high < 0
    assert broken.holm_p == pytest.approx(3 * broken.p)


def test_flips_are_listed_beside_those_of_repeats():
    older = np.array([[1, 1, 1], [0, 0, 0], [1, 1, 0], [1, 0, 0], [np.nan] * 3])
    newer = np.array([[0, 0, 0], [1, 1, 1], [1, 1, 0], [0, 0, 1], [1, 1, 1]])
    flipped = flips(older, newer)
    assert (list(flipped.broken), list(flipped.mended)) == ([0], [1])
    # Case with 3 of 6 repeats passed: the majorities differ for sure. With 4 or 2 of 6: 2 ⋅ C(4,3)⋅C(2,0)/C(6,3).
    assert flipped.expected == pytest.approx(2 * 1 + 2 * 0.4)
    assert flips(older[:, :1], newer[:, :1]).expected is None


def test_expected_flips_are_those_of_unchanged_models():
    rng = np.random.default_rng(8)
    p = rng.beta(1, 1, 20_000)[:, None]
    older, newer = rng.random((20_000, 3)) < p, rng.random((20_000, 4)) < p
    flipped = flips(older.astype(float), newer.astype(float))
    observed = len(flipped.broken) + len(flipped.mended)
    assert flipped.expected == pytest.approx(observed, abs=5 * observed**0.5)


def test_tags_are_compared_with_other_cases_under_holm():
    values = np.repeat([[1.0] * 19 + [0.0] + [0.0] * 19 + [1.0]], 2, axis=0)
    tags = tag_means(scores(values), {"easy": np.arange(40) < 20, "odd": np.arange(40) % 2 == 1})
    assert [(tag.tag, tag.mean[0], tag.difference[0]) for tag in tags] == [
        ("easy", pytest.approx(0.95), pytest.approx(0.9)),
        ("odd", pytest.approx(0.5), pytest.approx(0.0)),
    ]
    adjusted = holm_of_tags(tags)
    assert adjusted[0][0] == pytest.approx(4 * tags[0].p[0])
    assert tags[0].p[0] < 1e-9


def test_heat_map_average_needs_all_templates():
    certain = TemplateMean(1.0, 0.0, 0.8, 1.0)
    mean = average([certain, TemplateMean(0.5, 0.1, 0.3, 0.7)])
    assert (mean.mean, mean.se) == (0.75, pytest.approx(0.05))
    assert (mean.low, mean.high) == (pytest.approx(0.75 - np.hypot(0.2, 0.2) / 2), pytest.approx(0.85))
    assert averages({"a": {"t": certain, "u": certain}, "b": {"t": certain}}).keys() == {"a"}


def test_cost_per_point_counts_scored_items():
    cost = np.full((1, 50, 1), 0.02)
    points = scores(np.arange(50)[None] % 2.0)
    ratio, low, high = cost_per_point(cost, points)
    assert ratio[0] == pytest.approx(0.04)
    assert 0.03 < low[0] < 0.04 < high[0] < 0.06
    assert np.isnan(cost_per_point(cost, scores(np.zeros((1, 50))))[0][0])


def test_pareto_front_keeps_what_nothing_beats():
    quality = np.array([0.9, 0.8, 0.8, 0.7, np.nan, 0.8])
    cost = np.array([3.0, 2.0, 2.5, 1.0, 0.5, 2.0])
    assert list(pareto_front(quality, cost)) == [True, True, False, True, False, True]


def test_quantile_of_clustered_values_is_wider():
    rng = np.random.default_rng(3)
    slow = np.repeat(rng.gamma(2, 100, (40, 1)), 5, axis=1)
    clustered = quantile(slow, 0.5, Clusters.from_codes(np.arange(40)))
    single = quantile(slow.reshape(200, 1), 0.5, Clusters.from_codes(np.arange(200)))
    assert clustered.low < single.low < single.value < single.high < clustered.high
    assert quantile(slow[:5], 0.95, Clusters.from_codes(np.arange(5))).high is None
