import numpy as np
import pytest

from leaderboard.rating.board_fit import fit_board
from leaderboard.rating.bradley_terry import NotConnected
from leaderboard.rating.intervals import Z
from leaderboard.rating.reference import ARENA_RANK_RIDGE, fit_reference
from tests.worlds.ratings import reference_votes

CONNECTED_SETS = [
    "arena_20240814_paircounts", "copilot_arena_examples", "llmfao_crowd", "mtbench_human",
    "ref_30_100000", "ref_100_100000",
]  # fmt: skip


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


@pytest.mark.parametrize("name", CONNECTED_SETS)
def test_standard_errors_with_ridge_equal_arena_rank(name):
    theirs = reference_votes.reference(name)["arena_rank_tight"]
    _, errors = fit_reference(*reference_votes.counts(name), ridge_per_vote=ARENA_RANK_RIDGE)
    expected = (np.array(theirs["upper"]) - theirs["lower"]) / (2 * Z)
    assert np.abs(errors - expected).max() < 1e-4


def test_large_arena_is_established_with_reference_scores():
    wins, ties = reference_votes.counts("arena_20240814_paircounts")
    expected = reference_votes.reference("arena_20240814_paircounts")["ours"]
    board = fit_board(wins, ties)
    assert board.established.all()
    assert np.abs(board.score - 500 - expected["ratings"]).max() < 1e-6
    # Our interval adds corrections to the plain sandwich, so it is never narrower.
    assert ((board.high - board.low) / 2 >= Z * np.array(expected["se"])).all()


@pytest.mark.slow
def test_unconnected_clusters_have_no_common_maximum():
    wins, ties = reference_votes.counts("football_intl")
    with pytest.raises(NotConnected):
        fit_reference(wins, ties)
    board = fit_board(wins, ties)
    assert board.group.max() == 1
    listed = board.listed
    assert np.isfinite(board.score[listed]).all()
    assert (board.high[listed] - board.low[listed] > 0.1).all()
    # Four national teams never won against the connected group; only they have open intervals.
    open_ended = listed & ~np.isfinite(board.high - board.low)
    assert not (open_ended & board.established).any()
    assert (board.low[open_ended] == -np.inf).all()
    assert open_ended.sum() == 4
