import numpy as np
import pytest

from leaderboard.rating.rank_ranges.tiers import ERROR_RATE, tiers


def independent(models, error):
    return np.sqrt(2) * error * (1 - np.eye(models))


def test_tiers_are_split_where_all_differences_are_large():
    score = np.array([1500.0, 1800, 1510, 1790])
    assert tiers(score, independent(4, 20)).tolist() == [2, 1, 2, 1]


def test_one_close_pair_keeps_tiers_together():
    score = np.array([1800.0, 1560, 1540, 1200])
    assert tiers(score, independent(4, 20)).tolist() == [1, 2, 2, 3]


def test_more_models_need_larger_gaps():
    # 2.3 standard errors: beyond 2.24 of two cuts, below 2.64 of six.
    score = np.arange(7) * -2.3 * np.sqrt(2) * 20
    assert tiers(score[:3], independent(3, 20)).tolist() == [1, 2, 3]
    assert tiers(score, independent(7, 20)).max() == 1


def test_true_cuts_ease_the_others():
    # The last difference exceeds the bound of one cut, 1.96, once the first two are made.
    score = np.array([0.0, -1000, -2000, -2000 - 2.1 * np.sqrt(2) * 20])
    assert tiers(score, independent(4, 20)).tolist() == [1, 2, 3, 4]


def test_degenerate_boards_have_one_tier():
    assert tiers(np.zeros(0), np.zeros((0, 0))).tolist() == []
    assert tiers(np.zeros(1), np.zeros((1, 1))).tolist() == [1]
    assert tiers(np.array([40.0, 0]), np.zeros((2, 2))).tolist() == [1, 1]


def test_uncertain_model_keeps_tiers_together():
    error = np.array([300.0, 5, 5])
    score = np.array([1000.0, 900, 850])
    assert tiers(score, np.hypot(error[:, None], error)).tolist() == [1, 1, 1]
    assert tiers(score[1:], np.hypot(error[1:, None], error[1:])).tolist() == [1, 2]


@pytest.mark.parametrize("pairs", [1, 2, 6])
def test_equal_models_are_parted_on_one_of_twenty_boards(pairs):
    # Pairs of equal models in both directions nearly reach Bonferroni's bound, as the cuts between pairs are true.
    rng, boards = np.random.default_rng(6), 4000
    scores = np.repeat(np.arange(pairs) * 1000.0, 2) + rng.normal(0, 20, (boards, 2 * pairs))
    tiers_of_boards = np.array([tiers(score, independent(2 * pairs, 20)) for score in scores])
    is_wrong = (tiers_of_boards[:, ::2] != tiers_of_boards[:, 1::2]).any(axis=1)
    assert is_wrong.mean() == pytest.approx(1 - (1 - ERROR_RATE / pairs) ** pairs, abs=0.012)
