import numpy as np
import pytest

from leaderboard.rating.rank_ranges.critical_distance import critical_distance
from leaderboard.rating.rank_ranges.truths import DRAWS, plausible_truths
from tests.worlds.ratings.rank_ranges import RankErrors
from tests.worlds.ratings.simulations import strengths


def by_definition(truths, errors, scale, level):
    """Return the quantile of the largest distance that decides a rank."""
    distances = []
    for truth, estimate in zip(truths.T, (truths + errors).T, strict=True):
        largest = 0.0
        for model in range(len(truth)):
            others = np.arange(len(truth)) != model
            distance = (estimate[others] - estimate[model]) / scale[model, others]
            better = int((truth[others] > truth[model]).sum())
            upwards, downwards = np.sort(distance)[::-1], np.sort(-distance)[::-1]
            largest = max(largest, *upwards[better : better + 1], *downwards[len(distance) - better :][:1])
        distances.append(largest)
    return np.quantile(distances, level)


@pytest.mark.parametrize(("models", "spread"), [(3, 1), (12, 0.1), (12, 3), (30, 1)])
def test_critical_distance_matches_definition(models, spread):
    rng = np.random.default_rng(models)
    root = rng.normal(size=(models, models)) / models + np.diag(rng.uniform(0.3, 3, models))
    covariance = root @ root.T
    deviation = np.diag(covariance)
    scale = np.sqrt(deviation[:, None] + deviation - 2 * covariance + np.eye(models))
    truths, errors = rng.normal(0, spread, (models, 300)), root @ rng.normal(size=(models, 300))
    expected = max(1.6448536, by_definition(truths, errors, scale, 0.95))
    assert critical_distance(truths, errors, scale, level=0.95) == pytest.approx(expected, rel=1e-5)


def test_plausible_truths_of_equal_models_are_levels():
    score = np.array([*[1600.0] * 10, *[1400.0] * 10]) + np.random.default_rng(1).normal(0, 10, 20)
    truths = plausible_truths(score, np.eye(20) * 100)
    assert truths.shape == (20, DRAWS)
    spread_within = truths[:10].std(axis=0)
    assert np.median(spread_within) < 1
    assert np.median(truths[:10].mean(axis=0) - truths[10:].mean(axis=0)) == pytest.approx(200, abs=10)


def test_plausible_truths_of_spread_models_differ():
    score = np.linspace(1000, 2000, 30)
    truths = plausible_truths(score, np.eye(30) * 100)
    assert np.abs(truths.mean(axis=1) + score.mean() - score).max() < 20
    assert 7 < np.median(truths.std(axis=1)) < 15


@pytest.mark.slow
def test_rank_ranges_are_narrow_and_hold():
    rng, errors, error, boards = np.random.default_rng(4), RankErrors(), 0.2, 400
    for _ in range(boards):
        theta = strengths(rng, 10)
        errors.add(theta + rng.normal(0, error, 10), np.eye(10) * error**2, theta)
    assert 0.005 <= errors.held.count(False) / boards <= 0.05
    assert errors.width_ratio <= 0.85
