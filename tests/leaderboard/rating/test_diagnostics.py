import numpy as np
import pytest

from leaderboard.rating.board_fit import fit_board
from leaderboard.rating.bradley_terry import Tally, fit_strengths
from leaderboard.rating.diagnostics import misfit, votes_to_flip_first
from tests.worlds.ratings.simulations import arena, strengths


def fitted(wins, ties):
    return Tally.from_wins(wins, ties), fit_board(wins, ties)


def min_votes_by_trying(wins, ties, *, at_most):
    """Return the smallest number of equal votes that changes the leader, by exhaustive search."""
    first, others = None, range(len(wins))
    for i, j in ((i, j) for i in others for j in others if i != j):
        for votes in range(at_most + 1):
            more = wins.copy()
            more[i, j] += votes
            leader = fit_strengths(Tally.from_wins(more, ties)).argmax()
            first = leader if first is None else first
            if leader != first:
                at_most = votes
                break
    return at_most


@pytest.mark.parametrize("seed", range(6))
def test_flip_of_first_place_is_minimal(seed):
    rng = np.random.default_rng(seed)
    wins, ties = arena(rng, strengths(rng, 5, spread=0.5), 300).counts(5)
    tally, board = fitted(wins, ties)
    flip = votes_to_flip_first(tally, board)
    assert flip.votes == min_votes_by_trying(wins, ties, at_most=flip.votes + 5)
    assert flip.first != board.score.argmax()


def test_tied_leaders_flip_with_one_vote():
    tally, board = fitted(np.array([[0.0, 40], [40, 0]]), np.zeros((2, 2)))
    flip = votes_to_flip_first(tally, board)
    assert (flip.votes, {flip.winner, flip.loser}, flip.first) == (1, {0, 1}, flip.winner)


def test_two_models_flip_by_direct_votes():
    flip = votes_to_flip_first(*fitted(np.array([[0.0, 60], [40, 0]]), np.zeros((2, 2))))
    assert (flip.votes, flip.winner, flip.loser, flip.first) == (21, 1, 0, 1)


def test_board_without_established_models_has_no_flip():
    assert votes_to_flip_first(*fitted(np.array([[0.0, 4], [4, 0]]), np.zeros((2, 2)))) is None
    assert votes_to_flip_first(*fitted(np.zeros((0, 0)), np.zeros((0, 0)))) is None


def test_votes_of_the_model_have_no_misfit():
    rng = np.random.default_rng(1)
    deviance = misfit(*fitted(*arena(rng, strengths(rng, 20), 20_000).counts(20)))
    assert deviance.df == 190 - 19
    assert 0.8 < deviance.ratio < 1.2


def test_cyclic_preferences_have_large_misfit():
    wins = np.array([[0.0, 80, 20], [20, 0, 80], [80, 20, 0]])
    deviance = misfit(*fitted(wins, np.zeros((3, 3))))
    assert deviance.df == 1
    assert deviance.ratio > 20


def test_misfit_without_degrees_of_freedom_has_no_ratio():
    assert misfit(*fitted(np.array([[0.0, 60], [40, 0]]), np.zeros((2, 2)))).ratio is None
