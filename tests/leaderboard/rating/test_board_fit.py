"""What the scores are, and what they never are."""

import numpy as np
import pytest

from leaderboard.rating.board_fit import Board, fit_board
from leaderboard.rating.bradley_terry import POINTS, NotConnected
from leaderboard.rating.intervals import Z
from leaderboard.rating.ranks import rank_board
from leaderboard.rating.reference import fit_reference
from tests.leaderboard import reference_votes

CONNECTED_SETS = [
    "arena_20240814_paircounts", "copilot_arena_examples", "llmfao_crowd", "mtbench_human",
    "ref_30_100000", "ref_100_100000",
]  # fmt: skip


def drawn_votes(rng, theta, votes, *, tie_share=0.3):
    """(wins, ties) of as many votes between random pairs as Bradley–Terry says; a tie takes from both sides alike."""
    models = len(theta)
    wins, ties = np.zeros((2, models, models))
    for _ in range(votes):
        i, j = rng.choice(models, 2, replace=False)
        p = 1 / (1 + np.exp(theta[j] - theta[i]))
        tied = tie_share * 2 * min(p, 1 - p)
        chance = rng.random()
        if chance < p - tied / 2:
            wins[i, j] += 1
        elif chance > p + tied / 2:
            wins[j, i] += 1
        else:
            ties[[i, j], [j, i]] += 1
    return wins, ties


def board_of(wins, ties=None) -> Board:
    wins = np.array(wins, dtype=float)
    return fit_board(wins, np.zeros_like(wins) if ties is None else np.array(ties, dtype=float))


def assert_sound(board: Board) -> None:
    """No NaN for anybody listed, no interval without width, and an open end only on a preliminary model."""
    listed = board.listed
    assert np.isfinite(board.score[listed]).all()
    assert not np.isnan(board.low[listed]).any()
    assert not np.isnan(board.high[listed]).any()
    assert (board.high[listed] - board.low[listed] > 0.1).all()
    assert np.isfinite((board.high - board.low)[board.established]).all()


@pytest.mark.parametrize("name", CONNECTED_SETS)
def test_scores_equal_public_implementations(name):
    results = reference_votes.reference(name)
    scores, errors = fit_reference(*reference_votes.counts(name))
    assert np.abs(scores - results["ours"]["ratings"]).max() < 1e-6
    assert np.abs(errors - results["ours"]["se"]).max() < 1e-6
    assert np.abs(scores - results["arena_rank_tight"]["ratings"]).max() < 1e-3
    assert np.abs(scores - results["arena_rank_default"]["ratings"]).max() < 1.5
    if "evalica_tight" in results:
        assert np.abs(scores - results["evalica_tight"]["ratings"]).max() < 1e-6


def test_a_large_human_arena_is_established_and_keeps_its_reference_scores():
    wins, ties = reference_votes.counts("arena_20240814_paircounts")
    expected = reference_votes.reference("arena_20240814_paircounts")["ours"]
    board = fit_board(wins, ties)
    assert board.established.all()
    assert np.abs(board.score - 500 - expected["ratings"]).max() < 1e-6
    # Our interval allows for what the plain sandwich leaves out; it is never narrower.
    assert ((board.high - board.low) / 2 >= Z * np.array(expected["se"])).all()


def test_groups_that_never_lost_to_each_other_have_no_maximum():
    wins, ties = reference_votes.counts("football_intl")
    with pytest.raises(NotConnected):
        fit_reference(wins, ties)
    assert_sound(fit_board(wins, ties))


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
        "nobody", "one model", "all ties, established", "all ties, preliminary", "five of five", "ninety of ninety",
        "a strict order", "two groups", "two groups, one of them one-sided", "a star", "a single vote",
        "a million to one",
    ],
)  # fmt: skip
def test_odd_boards_stay_sound(wins, ties):
    board = board_of(wins, ties)
    assert_sound(board)
    ranks = rank_board(board)
    assert (ranks.best[board.listed] >= 1).all()
    assert (ranks.best <= ranks.worst).all()


def test_winning_everything_means_at_least_and_losing_everything_at_most():
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


def test_a_model_is_listed_from_five_votes_and_established_from_thirty():
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


def test_a_board_of_newcomers_is_preliminary_as_a_whole():
    board = board_of([[0, 8, 5], [4, 0, 6], [3, 5, 0]])
    assert list(board.preliminary) == [True, True, True]
    assert board.score.mean() == pytest.approx(1500)


def test_newcomers_move_no_established_score():
    rng = np.random.default_rng(7)
    wins, ties = drawn_votes(rng, rng.normal(0, 0.8, 12), 900)
    before = fit_board(wins, ties)
    grown, grown_ties = np.zeros((2, 20, 20))
    grown[:12, :12], grown_ties[:12, :12] = wins, ties
    for newcomer in range(12, 20):
        for opponent in rng.choice(12, 9):
            grown[(newcomer, opponent) if rng.random() < 0.7 else (opponent, newcomer)] += 1
    after = fit_board(grown, grown_ties)
    assert before.established.all()
    assert list(np.flatnonzero(after.established)) == list(range(12))
    assert np.abs(after.score[:12] - before.score).max() < 1e-9
    assert list(rank_board(after).best[:12]) == list(rank_board(before).best)


def test_the_names_and_sides_of_models_do_not_matter():
    rng = np.random.default_rng(11)
    wins, ties = drawn_votes(rng, rng.normal(0, 1, 9), 300)
    wins[8, :8] += 1  # some newcomer too
    board = fit_board(wins, ties)
    shuffle = rng.permutation(9)
    shuffled = fit_board(wins[np.ix_(shuffle, shuffle)], ties[np.ix_(shuffle, shuffle)])
    for name in ("score", "low", "high"):
        assert np.abs(getattr(board, name)[shuffle] - getattr(shuffled, name)).max() < 1e-9


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    """A short check; newcomers may be held too often, never too seldom."""
    rng = np.random.default_rng(3)
    held = {True: [], False: []}
    for _ in range(60):
        theta = rng.normal(0, 0.8, 12)
        theta -= theta[:10].mean()
        wins, ties = drawn_votes(rng, theta[:10], 400)
        grown, grown_ties = np.zeros((2, 12, 12))
        grown[:10, :10], grown_ties[:10, :10] = wins, ties
        for newcomer, n in ((10, 6), (11, 20)):
            for opponent in rng.choice(10, n):
                won = rng.random() < 1 / (1 + np.exp(theta[opponent] - theta[newcomer]))
                grown[(newcomer, opponent) if won else (opponent, newcomer)] += 1
        board = fit_board(grown, grown_ties)
        truth = 1500 + POINTS * (theta - theta[board.established].mean())
        for is_established, holds in zip(board.established, (board.low <= truth) & (truth <= board.high), strict=True):
            held[bool(is_established)].append(holds)
    assert 0.93 <= np.mean(held[True]) <= 0.99
    assert np.mean(held[False]) >= 0.93
