import numpy as np
import pytest
from scipy.special import expit

from leaderboard.rating.ballots import Ballots
from leaderboard.rating.board_fit import fit_board
from leaderboard.rating.bradley_terry import Tally
from leaderboard.rating.ties.held_out import forecast_facts
from leaderboard.rating.ties.tie_factors import fit_tie_factors, forecast
from tests.worlds.ratings.ties import rao_kupper_ballots

MODELS, VOTES = 12, 24_000


def ballots_with_tie_factors(**options) -> tuple[np.ndarray, Ballots]:
    return rao_kupper_ballots(np.random.default_rng(1), MODELS, VOTES, **options)


def facts_of(ballots):
    tally = Tally.from_side_counts(ballots.counts.n.astype(float))
    return forecast_facts(ballots, tally, fit_board(ballots.counts.wins, ballots.counts.ties + ballots.counts.both_bad))


def test_forecast_keeps_expected_shares():
    p = expit(np.linspace(-6, 6, 49).reshape(7, 7))
    eta = np.linspace(0.001, 3, 7)
    won, lost, tied = forecast(p, eta)
    np.testing.assert_allclose(won + tied / 2, p, atol=1e-9)
    np.testing.assert_allclose(won + lost + tied, 1, atol=1e-9)
    logit = np.log(won / (1 - won)) + np.log(lost / (1 - lost))
    np.testing.assert_allclose(logit, -2 * (eta[:, None] + eta), rtol=1e-4)


def test_tie_factors_are_recovered():
    eta, ballots = ballots_with_tie_factors()
    facts = facts_of(ballots)
    factors = np.log(list(facts["tie_factors"].values()))
    assert np.corrcoef(factors, eta)[0, 1] > 0.97
    assert np.abs(factors - eta).max() < 0.08


def test_held_out_losses_are_ordered():
    facts = facts_of(ballots_with_tie_factors()[1])
    share, outcome = facts["share_loss"], facts["outcome_loss"]
    assert facts["held_out"] == VOTES // 10
    assert share["tie_factors"] <= share["ties_half"] + 1e-4
    assert share["ties_half"] < share["ties_dropped"]
    assert outcome["tie_factors"] < outcome["one_factor"]


def test_held_out_losses_follow_from_every_tenth_vote():
    _, ballots = ballots_with_tie_factors()
    shifted = Ballots(*(np.roll(column, 10) if isinstance(column, np.ndarray) and column.ndim == 1 else column
                        for column in vars(ballots).values()))  # fmt: skip
    once, again = facts_of(ballots), facts_of(shifted)
    assert again["share_loss"]["ties_half"] == pytest.approx(once["share_loss"]["ties_half"], abs=1e-12)


def test_tables_of_counts_have_no_forecast():
    assert facts_of(ballots_with_tie_factors(n=2)[1]) is None


@pytest.mark.parametrize("outcome", [2, 3])
def test_boards_of_ties_have_finite_losses(outcome):
    facts = facts_of(ballots_with_tie_factors(outcome=outcome)[1])
    assert facts["share_loss"]["ties_half"] == pytest.approx(np.log(2), abs=1e-3)
    assert facts["share_loss"]["ties_dropped"] is None
    assert 0 <= facts["outcome_loss"]["tie_factors"] < 0.5


def test_boards_without_ties_have_small_factors():
    _, ballots = ballots_with_tie_factors()
    tally = Tally.from_side_counts(ballots.counts.n.astype(float))
    without = Tally(tally.won, tally.lost, np.zeros_like(tally.tied))
    eta = fit_tie_factors(without, np.full((MODELS, MODELS), 0.5))
    assert eta.max() < 0.01
