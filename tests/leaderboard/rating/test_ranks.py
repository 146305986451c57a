import numpy as np

from leaderboard.rating.board_fit import Board
from leaderboard.rating.ranks import rank_board, rank_established, significantly_above


def board_of(score, half, *, established=None, group=None) -> Board:
    """Return a board of independent scores with intervals of score ± half."""
    score, half = np.array(score, dtype=float), np.array(half, dtype=float)
    all_models = np.ones(len(score), dtype=bool)
    return Board(
        score=score,
        low=score - half,
        high=score + half,
        listed=all_models,
        established=all_models if established is None else np.array(established),
        group=np.zeros(len(score), dtype=int) if group is None else np.array(group),
        covariance=np.diag((half / 1.96) ** 2),
        design_effects=np.ones(len(score)),
        phi=np.ones(1),
    )


def test_rank_counts_models_clearly_above():
    ranks = rank_board(board_of([1650, 1540, 1525, 1350], [50, 40, 35, 50]))
    assert list(ranks.rank) == [1, 2, 2, 4]


def test_range_spans_ranks_that_differences_allow():
    ranks = rank_board(board_of([1650, 1540, 1525, 1350], [30, 30, 30, 30]))
    assert list(ranks.best) == [1, 2, 2, 4]
    assert list(ranks.worst) == [1, 3, 3, 4]


def test_range_contains_rank():
    # The intervals overlap, so both are first, but the difference is significant.
    ranks = rank_board(board_of([1535, 1500], [20, 20]))
    assert (list(ranks.rank), list(ranks.best), list(ranks.worst)) == ([1, 1], [1, 1], [1, 2])


def test_many_models_need_larger_differences():
    two, many = np.array([40.0, 0]), np.array([40.0, *[0.0] * 49])
    assert significantly_above(two, np.diag([196.0] * 2))[0, 1]  # two standard errors
    assert not significantly_above(many, np.diag([196.0] * 50)).any()


def test_distant_models_do_not_widen_ranges():
    # The same difference of the last two: with equal models above, other ranks could be wrong as well.
    score = np.array([*np.arange(9, 1, -1) * 1000.0, 0, -45])
    above = significantly_above(score, np.diag([196.0] * 10))
    assert above[8, 9]
    assert not significantly_above(np.array([*[1000.0] * 8, 0, -45]), np.diag([196.0] * 10))[8, 9]


def test_correlated_scores_are_compared_by_difference():
    together = np.full((2, 2), 10_000.0) + np.diag([50.0, 50.0])
    assert significantly_above(np.array([40.0, 0]), together)[0, 1]
    assert not significantly_above(np.array([40.0, 0]), np.diag([10_050.0] * 2))[0, 1]


def test_newcomer_rank_does_not_lower_other_ranks():
    ranks = rank_board(board_of([1650, 1540, 1950], [50, 40, 50], established=[True, True, False]))
    assert list(ranks.rank) == [1, 2, 1]
    assert list(ranks.worst) == [1, 2, 1]


def test_each_group_has_its_own_ranks():
    ranks = rank_board(board_of([1650, 1540, 1950, 1900], [20, 20, 20, 20], group=[0, 0, 1, 1]))
    assert list(ranks.rank) == [1, 2, 1, 2]
    assert list(ranks.worst) == [1, 2, 1, 2]


def test_rank_established_equals_rank_board():
    board = board_of([1535, 1500, 1650, 1525, 1350], [20, 20, 50, 35, 50])
    alone, there = rank_established(board.score, board.low, board.high, board.covariance), rank_board(board)
    for places in ("rank", "best", "worst"):
        assert list(getattr(alone, places)) == list(getattr(there, places))
