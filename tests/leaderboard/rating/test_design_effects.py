import numpy as np
import pytest

from leaderboard.rating.board_fit import fit_board
from leaderboard.rating.clustering import VoterVotes, effective_voters
from tests.worlds.ratings.interval_coverage import voter_votes_of
from tests.worlds.ratings.simulations import arena, arena_with_tastes, cast, newcomer_pairs, strengths


def board_of(ballots, models, voters):
    return fit_board(*ballots.counts(models), voters=voters)


def rows(ballots, voter):
    return VoterVotes(voter, ballots.left, ballots.right, ballots.outcome, np.ones(len(voter), dtype=int))


def test_one_vote_per_voter_has_no_design_effect():
    rng = np.random.default_rng(1)
    ballots = arena(rng, strengths(rng, 10), 500)
    left, right = newcomer_pairs(rng, newcomer=10, among=10, votes=9)
    ballots = ballots.extended_by(cast(rng, left, right, np.zeros(9)))
    board = board_of(ballots, 11, rows(ballots, np.arange(509)))
    assert np.abs(board.design_effects - 1).max() < 1e-9


def test_like_minded_voters_have_small_design_effect():
    rng = np.random.default_rng(7)
    ballots = arena(rng, strengths(rng, 10), 5000)
    board = board_of(ballots, 10, rows(ballots, rng.integers(500, size=5000)))
    assert board.design_effects.max() < 1.3


def test_repeated_votes_do_not_narrow_intervals():
    rng = np.random.default_rng(2)
    ballots = arena(rng, strengths(rng, 8), 2000)
    voter = np.arange(2000)
    repeated = ballots
    for _ in range(3):
        repeated = repeated.extended_by(ballots)
    once = board_of(ballots, 8, rows(ballots, voter))
    four_times = board_of(repeated, 8, rows(repeated, np.tile(voter, 4)))
    width = (four_times.high - four_times.low) / (once.high - once.low)
    assert np.abs(width - 1).max() < 0.02
    counted = VoterVotes(voter, ballots.left, ballots.right, ballots.outcome, np.full(2000, 4))
    assert np.abs(board_of(repeated, 8, counted).design_effects - four_times.design_effects).max() < 1e-9


def test_effective_voters_weigh_busy_voters():
    votes = VoterVotes(np.array([7, 7, 9]), np.zeros(3), np.ones(3), np.zeros(3), np.array([20, 20, 40]))
    assert effective_voters(votes, votes=80) == pytest.approx(2)
    assert effective_voters(votes, votes=100) == pytest.approx(100**2 / (2 * 40**2 + 20))


def test_tastes_raise_design_effects():
    rng = np.random.default_rng(3)
    ballots = arena_with_tastes(rng, strengths(rng, 10), 20_000, voters=200, taste=0.5)
    assert board_of(ballots, 10, voter_votes_of(ballots)).design_effects.min() > 1.5


def test_single_voter_has_no_design_effect():
    rng = np.random.default_rng(4)
    ballots = arena(rng, strengths(rng, 6), 600)
    voters = rows(ballots, np.zeros(600, dtype=int))
    assert list(board_of(ballots, 6, voters).design_effects) == [1] * 6
    assert list(board_of(ballots, 6, voters.where(ballots.left < 0)).design_effects) == [1] * 6


def test_voters_of_newcomer_raise_its_design_effect():
    rng = np.random.default_rng(5)
    ballots = arena(rng, strengths(rng, 6), 3000)
    left, right = newcomer_pairs(rng, newcomer=6, among=6, votes=24)
    ballots = ballots.extended_by(cast(rng, left, right, np.zeros(24)))
    # Six voters with four identical votes each.
    preference = np.repeat([0, 1, 0, 1, 0, 1], 4)
    ballots.outcome[3000:] = np.where((left == 6) == (preference == 0), 0, 1)
    alone, crowd = np.arange(3024), np.append(np.arange(3000), 3000 + np.repeat(np.arange(6), 4))
    apart, together = (board_of(ballots, 7, rows(ballots, voter)) for voter in (alone, crowd))
    assert not together.established[6]
    assert together.design_effects[6] > 2 * apart.design_effects[6]
    assert np.abs(together.design_effects[:6] - apart.design_effects[:6]).max() < 1e-9


def test_numbers_of_voters_do_not_change_fit():
    rng = np.random.default_rng(6)
    ballots = arena_with_tastes(rng, strengths(rng, 6), 1500, voters=40)
    names = rng.permutation(1000)[:40]
    in_order, shuffled = (
        board_of(ballots, 6, voter_votes_of(ballots)),
        board_of(ballots, 6, rows(ballots, names[ballots.voter])),
    )
    assert np.abs(in_order.design_effects - shuffled.design_effects).max() < 1e-9
