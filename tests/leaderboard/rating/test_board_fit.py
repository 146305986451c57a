import numpy as np
import pytest

from leaderboard.rating.board_fit import Board, fit_board, fit_tally
from leaderboard.rating.bradley_terry import POINTS, Tally
from leaderboard.rating.intervals import Z
from leaderboard.rating.ranks import rank_board
from tests.worlds.ratings.simulations import arena, cast, newcomer_pairs, strengths


def board_of(wins, ties=None) -> Board:
    wins = np.array(wins, dtype=float)
    return fit_board(wins, np.zeros_like(wins) if ties is None else np.array(ties, dtype=float))


def assert_sound(board: Board) -> None:
    """Check that listed models have finite scores and wide intervals, open only on preliminary models."""
    listed = board.listed
    assert np.isfinite(board.score[listed]).all()
    assert not np.isnan(board.low[listed]).any()
    assert not np.isnan(board.high[listed]).any()
    assert (board.high[listed] - board.low[listed] > 0.1).all()
    assert np.isfinite((board.high - board.low)[board.established]).all()


@pytest.mark.parametrize(
    ("wins", "ties"),
    [
        (np.zeros((0, 0)), np.zeros((0, 0))),
        ([[0]], [[0]]),
        ([[0, 0], [0, 0]], [[0, 40], [40, 0]]),
        ([[0, 0], [0, 0]], [[0, 7], [7, 0]]),
        ([[0, 5], [0, 0]], [[0, 0], [0, 0]]),
        ([[0, 90], [0, 0]], [[0, 0], [0, 0]]),
        ([[0, 9, 9], [0, 0, 9], [0, 0, 0]], np.zeros((3, 3))),
        ([[0, 30, 0, 0], [20, 0, 0, 0], [0, 0, 0, 25], [0, 0, 15, 0]], np.zeros((4, 4))),
        ([[0, 30, 0, 0], [20, 0, 0, 0], [0, 0, 0, 5], [0, 0, 0, 0]], np.zeros((4, 4))),
        ([[0, 9, 9, 9], [9, 0, 0, 0], [9, 0, 0, 0], [9, 0, 0, 0]], np.zeros((4, 4))),
        ([[0, 40, 1], [40, 0, 0], [0, 0, 0]], np.zeros((3, 3))),
        ([[0, 1_000_000, 5], [1, 0, 0], [0, 0, 0]], np.zeros((3, 3))),
    ],
    ids=[
        "no models", "one model", "all ties, established", "all ties, preliminary", "five of five", "ninety of ninety",
        "a strict order", "two groups", "two groups, one of them one-sided", "a star", "a single vote",
        "a million to one",
    ],
)  # fmt: skip
def test_degenerate_board_stays_sound(wins, ties):
    board = board_of(wins, ties)
    assert_sound(board)
    ranks = rank_board(board)
    assert (ranks.best[board.listed] >= 1).all()
    assert (ranks.best <= ranks.worst).all()


def test_undefeated_model_has_only_a_lower_bound():
    wins = np.zeros((4, 4))
    wins[0, 1] = wins[1, 0] = 50
    wins[2, [0, 1]] = 4
    wins[[0, 1], 3] = 4
    board = board_of(wins)
    assert list(board.established) == [True, True, False, False]
    # Eight wins over opponents at 1500: σ(t)⁸ = 0.025.
    at_least = 1500 + POINTS * np.log(0.025 ** (1 / 8) / (1 - 0.025 ** (1 / 8)))
    assert board.low[2] == pytest.approx(at_least)
    assert board.high[2] == np.inf
    assert board.high[3] == pytest.approx(3000 - at_least)
    assert board.low[3] == -np.inf


def test_models_are_listed_and_established_by_votes():
    wins = np.zeros((4, 4))
    wins[0, 1], wins[1, 0] = 30, 20
    wins[2, 0] = wins[0, 2] = 2
    wins[3, 0] = wins[0, 3] = 2
    wins[3, 1] = 1
    board = board_of(wins)
    assert list(board.listed) == [True, True, False, True]
    assert list(board.established) == [True, True, False, False]
    assert np.isnan(board.score[2])
    wins[3, 0] = wins[0, 3] = 15
    assert list(board_of(wins).established) == [True, True, False, True]


def test_board_of_newcomers_is_preliminary():
    board = board_of([[0, 8, 5], [4, 0, 6], [3, 5, 0]])
    assert list(board.preliminary) == [True, True, True]
    assert board.score.mean() == pytest.approx(1500)


def test_newcomers_move_no_established_score_or_rank():
    rng = np.random.default_rng(7)
    ballots = arena(rng, strengths(rng, 12), 900)
    before = fit_board(*ballots.counts(12))
    for newcomer in range(12, 20):
        left, right = newcomer_pairs(rng, newcomer=newcomer, among=12, votes=9)
        ballots = ballots.extended_by(cast(rng, left, right, np.zeros(9)))
    after = fit_board(*ballots.counts(20))
    assert before.established.all()
    assert list(np.flatnonzero(after.established)) == list(range(12))
    assert np.abs(after.score[:12] - before.score).max() < 1e-9
    assert np.abs(after.low[:12] - before.low).max() < 1e-9
    ranks, earlier = rank_board(after), rank_board(before)
    for name in ("rank", "best", "worst"):
        assert list(getattr(ranks, name)[:12]) == list(getattr(earlier, name))


def test_order_of_models_does_not_change_fit():
    rng = np.random.default_rng(11)
    ballots = arena(rng, strengths(rng, 9), 300)
    wins, ties = ballots.counts(9)
    wins[8, :8] += 1  # some newcomer too
    board = fit_board(wins, ties)
    shuffle = rng.permutation(9)
    shuffled = fit_board(wins[np.ix_(shuffle, shuffle)], ties[np.ix_(shuffle, shuffle)])
    for name in ("score", "low", "high"):
        assert np.abs(getattr(board, name)[shuffle] - getattr(shuffled, name)).max() < 1e-9
    ranks, ranks_shuffled = rank_board(board), rank_board(shuffled)
    assert list(ranks.best[shuffle]) == list(ranks_shuffled.best)
    assert list(ranks.worst[shuffle]) == list(ranks_shuffled.worst)


def test_swapped_sides_do_not_change_fit():
    rng = np.random.default_rng(12)
    counts = np.zeros((4, 7, 7))
    ballots = arena(rng, strengths(rng, 7), 400)
    np.add.at(counts, (ballots.outcome, ballots.left, ballots.right), 1)
    swapped = counts[[1, 0, 2, 3]].transpose(0, 2, 1)
    board, mirror = (fit_tally(Tally.from_side_counts(seats)) for seats in (counts, swapped))
    assert np.abs(board.score - mirror.score).max() < 1e-9
    assert np.abs(board.score - fit_board(*ballots.counts(7)).score).max() < 1e-9


def test_unconnected_groups_are_fitted_separately():
    rng = np.random.default_rng(13)
    (wins, ties), (other_wins, other_ties) = (arena(rng, strengths(rng, 5), n).counts(5) for n in (300, 500))
    zeros = np.zeros((5, 5))
    board = fit_board(np.block([[wins, zeros], [zeros, other_wins]]), np.block([[ties, zeros], [zeros, other_ties]]))
    assert list(board.group) == [1] * 5 + [0] * 5
    assert board.established.all()
    alone = fit_board(wins, ties)
    for name in ("score", "low", "high"):
        assert np.abs(getattr(board, name)[:5] - getattr(alone, name)).max() < 1e-9
    assert (board.covariance[:5, 5:] == 0).all()
    ranks = rank_board(board)
    assert list(ranks.rank[:5]) == list(rank_board(alone).rank)
    assert ranks.worst.max() == 5


def test_single_vote_between_groups_gives_open_intervals():
    wins = np.zeros((6, 6))
    for i, j in ((0, 1), (1, 2), (2, 0)):
        wins[i, j], wins[j, i] = 40, 30
        wins[3 + i, 3 + j], wins[3 + j, 3 + i] = 30, 20
    wins[0, 3] = 1
    board = board_of(wins)
    assert list(board.group) == [0] * 6
    assert list(board.established) == [True, True, True, False, False, False]
    # The second group's only vote with the first is a loss to a model at 1500: σ(−t) = 0.025.
    at_most = 1500 + POINTS * np.log(0.975 / 0.025)
    assert board.high[3] == pytest.approx(at_most)
    assert (board.low[3:] == -np.inf).all()


def test_unplaced_model_has_no_score():
    wins = np.zeros((5, 5))
    wins[0, 1] = wins[1, 0] = 40
    # 2 lost every vote, 4 won every vote, and 3 met only these two.
    wins[0, 2] = wins[3, 2] = wins[4, 0] = wins[4, 3] = 6
    board = board_of(wins)
    assert list(board.listed) == [True, True, True, False, True]
    assert np.isnan(board.score[3])
    assert board.high[2] < 1500 < board.low[4]


def test_covariance_matches_intervals():
    rng = np.random.default_rng(14)
    ballots = arena(rng, strengths(rng, 8), 500)
    left, right = newcomer_pairs(rng, newcomer=8, among=8, votes=20)
    ballots = ballots.extended_by(cast(rng, left, right, np.zeros(20)))
    board = fit_board(*ballots.counts(9))
    assert np.abs((board.high - board.low) / 2 - Z * np.sqrt(np.diag(board.covariance))).max() < 1e-9
    assert np.linalg.eigvalsh(board.covariance).min() > -1e-9
    assert np.abs(board.covariance - board.covariance.T).max() < 1e-9
