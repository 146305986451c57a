import numpy as np
import pytest

from leaderboard.rating.ballots import Ballots, BallotsBuilder
from leaderboard.rating.ranks import significantly_above
from leaderboard.rating.snapshot_fit import SnapshotFit, StyleInput, fit_snapshot
from tests.worlds.ratings.tiny_boards import PARAMETERS, finite_intervals, fit_tiny_board, random_ballots


def ballots_of(*votes: tuple[str, tuple[int, ...]], times: int) -> Ballots:
    """Return `times` copies of (outcome, style counts) votes between two models, each by its own voter."""
    builder = BallotsBuilder()
    for number in range(times):
        for outcome, style in votes:
            builder.add("a", "b", outcome, voter=f"{outcome} {number}", style=style)
    return builder.build()


def fit(ballots: Ballots) -> SnapshotFit:
    return fit_snapshot(
        ballots.counts, PARAMETERS, voters=ballots.voter_votes, style=StyleInput(ballots, None), with_flip=True
    )


def test_ties_with_styles_are_fitted_with_intervals():
    fitted = fit(ballots_of(("both_bad", (9, 1, 0, 2, 4, 0, 1, 0)), times=31))
    for line in fitted.lines:
        assert line["score"] == pytest.approx(1500)
        assert line["style_score"] == pytest.approx(1500)
        assert line["style_ci_low"] < 1500 < line["style_ci_high"]
        assert (line["style_rank"], line["style_rank_best"], line["style_rank_worst"]) == (1, 1, 2)


def test_ranks_of_a_singular_covariance_are_computed():
    score = np.array([40.0, 10, 0])
    assert not significantly_above(score, np.zeros((3, 3))).any()
    without_spread = np.array([[50.0, -50, 0], [-50, 50, 0], [0, 0, 0]])
    assert significantly_above(score * 100, without_spread).sum() == 3


@pytest.mark.slow
@pytest.mark.parametrize("seed", [*range(50), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(50, 150))])
def test_random_tiny_board_has_no_zero_width_interval(seed):
    ballots = random_ballots(np.random.default_rng(seed))
    for low, high in finite_intervals(fit_tiny_board(ballots)):
        assert low < high


def test_style_has_side_where_board_is_corrected():
    votes = [
        ("left", (9, 1, 0, 2, 4, 0, 1, 0)),
        ("left", (3, 0, 0, 1, 8, 1, 0, 0)),
        ("right", (5, 0, 1, 0, 7, 0, 0, 1)),
    ]
    mirrored = BallotsBuilder()
    for number in range(200):
        outcome, style = votes[number % 3]
        left, right = ("a", "b") if number % 2 else ("b", "a")
        mirrored.add(left, right, outcome, voter=f"{number}", style=style[number % 5 :] + style[: number % 5])
    facts = fit(mirrored.build()).facts
    assert facts["side_bias"]["applied"]
    side = facts["style"]["side"]
    assert 0 < side["low"] < side["value"] < side["high"]
    assert "side" not in fit(ballots_of(*votes, times=40)).facts["style"]
