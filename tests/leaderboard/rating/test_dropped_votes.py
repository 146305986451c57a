from itertools import combinations_with_replacement

import numpy as np
import pytest

from leaderboard.rating.board_fit import fit_board
from leaderboard.rating.bradley_terry import Tally, fit_strengths, strong_components
from leaderboard.rating.first_place.dropped_votes import votes_to_drop_first
from tests.worlds.ratings.simulations import arena, strengths


def fitted(wins, ties):
    return Tally.from_wins(wins, ties), fit_board(wins, ties)


def without(tally, kinds):
    outcomes = np.stack([tally.won, tally.lost, tally.tied])
    for left, right, outcome, votes in kinds:
        outcomes[outcome, left, right] -= votes
    return Tally(*outcomes) if (outcomes >= 0).all() else None


def is_flipped(tally, kinds):
    rest = without(tally, kinds)
    if rest is None or strong_components(rest.effective_wins).any():
        return False
    return fit_strengths(rest).argmax() != fit_strengths(tally).argmax()


def single_kinds(tally):
    outcomes = np.stack([tally.won, tally.lost, tally.tied])
    return [(left, right, outcome, 1) for outcome, left, right in np.argwhere(outcomes > 0)]


@pytest.mark.parametrize("seed", range(12))
def test_dropped_votes_change_the_first_place(seed):
    rng = np.random.default_rng(seed)
    tally, board = fitted(*arena(rng, strengths(rng, 5, spread=0.4), 400).counts(5))
    drop = votes_to_drop_first(tally, board)
    assert drop.kinds[:, 3].sum() == drop.votes
    assert fit_strengths(without(tally, drop.kinds)).argmax() == drop.first != board.score.argmax()


@pytest.mark.parametrize("seed", [0, 5, 7])
def test_no_smaller_set_of_a_small_board_flips(seed):
    rng = np.random.default_rng(seed)
    tally, board = fitted(*arena(rng, strengths(rng, 4, spread=0.25), 120).counts(4))
    drop = votes_to_drop_first(tally, board)
    smaller = combinations_with_replacement(single_kinds(tally), drop.votes - 1)
    assert drop.votes <= 3
    assert not any(is_flipped(tally, kinds) for kinds in smaller)


def test_two_models_flip_without_the_surplus_of_wins():
    drop = votes_to_drop_first(*fitted(np.array([[0.0, 60], [40, 0]]), np.zeros((2, 2))))
    assert (drop.votes, drop.first, drop.kinds.tolist()) == (21, 1, [[0, 1, 0, 21]])


def test_leader_that_would_lose_its_connection_stays():
    # The leader would have no finite score without its 60 wins.
    assert votes_to_drop_first(*fitted(np.array([[0.0, 60], [1, 0]]), np.zeros((2, 2)))) is None


def test_board_without_established_models_has_no_drop():
    assert votes_to_drop_first(*fitted(np.array([[0.0, 4], [4, 0]]), np.zeros((2, 2)))) is None
