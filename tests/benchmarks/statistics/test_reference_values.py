"""Equality with statsmodels, inspect-ai and scipy (tests/data/README.md)."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from scipy.special import stdtrit

from benchmarks.statistics.clusters import Clusters, clustered_means
from benchmarks.statistics.means import t_interval, unit_interval, wilson
from benchmarks.statistics.multiple import holm
from benchmarks.statistics.paired import all_pairs, paired_differences, repeat_variances
from benchmarks.statistics.passes import all_of, at_least_one, majority
from benchmarks.statistics.quantiles import quantile
from tests.worlds.benchmarks.run_inputs import scores

REFERENCE = json.loads((Path(__file__).parents[2] / "data/benchmarks/statistics.json").read_text())
VALUES = np.array(REFERENCE["values"], dtype=float)
TOLERANCE = 1e-9


def columns(rows, *names):
    return [np.array([row[name] for row in rows]) for name in names]


def test_weighted_clustered_errors_equal_statsmodels():
    sample = scores(VALUES, weights=REFERENCE["weights"], clusters=REFERENCE["unequal"])
    means = clustered_means(sample.case_means, sample.weights, sample.clusters)
    mean, se = columns(REFERENCE["statsmodels_wls_unequal"], "mean", "se")
    np.testing.assert_allclose(means.mean, mean, rtol=TOLERANCE)
    np.testing.assert_allclose(means.se, se, rtol=TOLERANCE)


def test_clustered_errors_equal_inspect():
    sample = scores(VALUES, clusters=REFERENCE["unequal"])
    means = clustered_means(sample.case_means, sample.weights, sample.clusters)
    np.testing.assert_allclose(means.se, REFERENCE["inspect_stderr"], rtol=TOLERANCE)


def test_effective_wilson_equals_inspect():
    sample = scores(VALUES[:, :, :1], clusters=REFERENCE["clusters"])
    means = clustered_means(sample.case_means, sample.weights, sample.clusters)
    low, high = unit_interval(means, sample.effective_items(), is_binary=True)
    lower, upper = columns(REFERENCE["inspect_ci_wilson"], "lower", "upper")
    np.testing.assert_allclose(low, lower, atol=TOLERANCE)
    np.testing.assert_allclose(high, upper, atol=TOLERANCE)


def test_wilson_equals_statsmodels():
    count, n, low, high = np.array(REFERENCE["statsmodels_wilson"]).T
    np.testing.assert_allclose(wilson(count / n, n, stats.norm.ppf(0.975)), (low, high), atol=TOLERANCE)


def test_clustered_differences_equal_statsmodels():
    sample = scores(VALUES, clusters=REFERENCE["clusters"])
    first, second = all_pairs(4)
    means = clustered_means(sample.case_means[first] - sample.case_means[second], sample.weights, sample.clusters)
    rows = REFERENCE["statsmodels_wls_equal_clusters_differences"]
    mean, se, low, high = columns(rows, "mean", "se", "low", "high")
    np.testing.assert_allclose(means.mean, mean, atol=TOLERANCE)
    np.testing.assert_allclose(means.se, se, rtol=TOLERANCE)
    np.testing.assert_allclose(t_interval(means), (low, high), atol=TOLERANCE)


def test_unbounded_differences_equal_paired_t_of_scipy():
    values = VALUES.mean(axis=2) * 1000 + np.arange(24) ** 2 * np.arange(4)[:, None]
    differences = paired_differences(scores(values), all_pairs(4))
    expected = [stats.ttest_rel(values[i], values[j]) for i, j in zip(*all_pairs(4), strict=True)]
    np.testing.assert_allclose(differences.p, [result.pvalue for result in expected], rtol=TOLERANCE)
    bounds = [result.confidence_interval() for result in expected]
    np.testing.assert_allclose(np.array([differences.low, differences.high]).T, bounds, rtol=TOLERANCE)


def test_binary_differences_equal_two_more_discordant_pairs():
    differences = paired_differences(scores(VALUES[:, :, :1]), all_pairs(4))
    centre, scale = np.array(REFERENCE["statsmodels_two_more_pairs"]).T
    np.testing.assert_allclose(differences.centre, centre, atol=TOLERANCE)
    np.testing.assert_allclose(differences.scale, scale, rtol=TOLERANCE)
    np.testing.assert_allclose(differences.high, centre + stdtrit(23, 0.975) * scale, atol=TOLERANCE)
    np.testing.assert_allclose(differences.exact_p, REFERENCE["statsmodels_mcnemar_exact"], rtol=TOLERANCE)


def test_holm_equals_statsmodels():
    p = np.array([*REFERENCE["p"], np.nan])
    np.testing.assert_allclose(holm(p)[:-1], REFERENCE["statsmodels_holm"], rtol=TOLERANCE)


def test_variances_equal_analysis_of_variance():
    between, within = np.array(REFERENCE["statsmodels_anova_mean_squares"]).T
    sample = scores([*VALUES, np.zeros((24, 3))])
    np.testing.assert_allclose(repeat_variances(sample), [*within, 0], rtol=TOLERANCE)
    # The variance of differences from a constant entrant is that of the other entrant.
    against_zero = paired_differences(sample, (np.arange(4), np.full(4, 4)))
    np.testing.assert_allclose(against_zero.between, (between - within) / 3, rtol=TOLERANCE)


def test_pass_rates_equal_inspect_and_enumeration():
    repeats, passes = np.full((4, 24), 3), VALUES.sum(axis=2).astype(np.int64)
    for k in (1, 2, 3):
        np.testing.assert_allclose(
            at_least_one(repeats, passes, k), REFERENCE["inspect_pass_at"][str(k)], atol=TOLERANCE
        )
        np.testing.assert_allclose(all_of(repeats, passes, k), REFERENCE["inspect_pass_k"][str(k)], atol=TOLERANCE)
    expected = [stats.hypergeom(5, passed, 3).sf(1) for passed in range(6)]
    np.testing.assert_allclose(majority(np.full(6, 5), np.arange(6), 3), expected, atol=TOLERANCE)


@pytest.mark.parametrize(("n", "level"), [(40, 0.5), (200, 0.95), (77, 0.95)])
def test_quantile_bounds_equal_scipy(n, level):
    values = np.sort(stats.gamma(2).rvs(n, random_state=np.random.RandomState(3)))
    interval = quantile(values[:, None], level, Clusters.from_codes(np.arange(n)))
    expected = stats.quantile_test(values, p=level).confidence_interval(0.95)
    bounds = [np.nan if bound is None else bound for bound in (interval.low, interval.high)]
    np.testing.assert_allclose(bounds, [expected.low, expected.high], rtol=TOLERANCE)


@pytest.mark.parametrize("sizes", [[1] * 12, [7, 5, 4, 3, 2, 1, 1, 1], [50, *[1] * 50]])
def test_degrees_of_freedom_equal_matrix_definition(sizes):
    shares = np.array(sizes) / sum(sizes)
    residual = np.diag(shares) @ (np.eye(len(sizes)) - np.outer(np.ones(len(sizes)), shares))
    variance = residual @ residual.T
    means = clustered_means(
        np.arange(len(sizes))[None] % 2.0, np.array(sizes, float), Clusters.from_codes(np.arange(len(sizes)))
    )
    assert means.df[0] == pytest.approx(variance.trace() ** 2 / (variance @ variance).trace(), rel=TOLERANCE)
