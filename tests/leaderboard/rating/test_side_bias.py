import numpy as np
import pytest

from leaderboard.rating import side_bias
from leaderboard.rating.board_fit import fit_side_counts
from leaderboard.rating.bradley_terry import POINTS, Tally
from leaderboard.rating.clustering import VoterVotes
from leaderboard.rating.side_bias import estimate_side_bias
from tests.worlds.ratings.simulations import cast, random_pairs, strengths


def counts_by_side(rng, theta, votes, *, bias=0.0, left_probability=0.5):
    """Return counts by side; the model with the smaller number is left with probability `left_probability`."""
    pairs = np.sort(np.stack(random_pairs(rng, len(theta), votes)), axis=0)
    swapped = rng.random(votes) > left_probability
    left, right = np.where(swapped, pairs[1], pairs[0]), np.where(swapped, pairs[0], pairs[1])
    ballots = cast(rng, left, right, theta[left] - theta[right] + bias)
    counts = np.zeros((4, len(theta), len(theta)))
    np.add.at(counts, (ballots.outcome, left, right), 1)
    return counts


def test_bias_interval_covers_true_bias():
    rng = np.random.default_rng(1)
    held = []
    for _ in range(60):
        bias = fit_side_counts(counts_by_side(rng, strengths(rng, 6), 500, bias=0.3)).side_bias
        held.append(bias.low <= POINTS * 0.3 <= bias.high)
    assert np.mean(held) > 0.88


def test_scores_without_bias_are_not_corrected():
    rng = np.random.default_rng(2)
    theta = strengths(rng, 6)
    corrected = [fit_side_counts(counts_by_side(rng, theta, 500)).corrected for _ in range(60)]
    assert sum(corrected) <= 1


def test_correction_removes_side_bias():
    """Models with small numbers are mostly left: without correction their scores would be about 70 points too high."""
    rng = np.random.default_rng(3)
    theta = np.zeros(8)
    counts = counts_by_side(rng, theta, 40_000, bias=0.4, left_probability=0.9)
    fit = fit_side_counts(counts)
    assert fit.corrected
    assert ((fit.board.low <= 1500) & (fit.board.high >= 1500)).mean() > 0.7
    uncorrected = fit_side_counts(counts + counts[[1, 0, 2, 3]].transpose(0, 2, 1))
    assert not uncorrected.corrected
    assert np.ptp(uncorrected.board.score) > 2 * np.ptp(fit.board.score)


def test_bias_uncertainty_widens_model_always_on_left():
    counts = np.zeros((4, 3, 3))
    counts[0, 0, 1:], counts[1, 0, 1:] = 120, 60
    counts[0, 1, 2], counts[1, 1, 2] = counts[0, 2, 1], counts[1, 2, 1] = 60, 30
    fit = fit_side_counts(counts)
    assert fit.corrected
    # Model 0 was always left, so its score is at most as certain as the side bias.
    assert fit.board.high[0] - fit.board.low[0] > fit.side_bias.high - fit.side_bias.low - 40


@pytest.mark.parametrize(
    "counts",
    [
        np.zeros((4, 0, 0)),
        np.zeros((4, 3, 3)),
        [[[0, 9], [0, 0]], [[0, 0], [0, 0]], np.zeros((2, 2)), np.zeros((2, 2))],
        [[[0, 9], [9, 0]], np.zeros((2, 2)), np.zeros((2, 2)), np.zeros((2, 2))],
        [[[0, 9], [0, 0]], [[0, 7], [0, 0]], np.zeros((2, 2)), np.zeros((2, 2))],
        [np.triu(np.ones((3, 3)), 1) * [0, 9, 0]] * 2 + [np.zeros((3, 3))] * 2,
    ],
    ids=["no models", "no votes", "one side always won", "left always won", "fixed sides", "fixed sides, group of two"],
)
def test_bias_without_finite_estimate_is_none(counts):
    assert estimate_side_bias(Tally.from_side_counts(np.array(counts, dtype=float))) is None


def test_ties_only_give_zero_bias_with_error():
    bias = estimate_side_bias(
        Tally.from_side_counts(np.stack([np.zeros((2, 2))] * 2 + [np.eye(2)[::-1] * 20, np.zeros((2, 2))]))
    )
    assert bias.points == pytest.approx(0)
    assert bias.se > 1


def test_clustered_voters_widen_bias_error():
    rng = np.random.default_rng(4)
    left, right = random_pairs(rng, 6, 3000)
    voter = rng.integers(30, size=3000)
    ballots = cast(rng, left, right, rng.normal(0.3, 1, 30)[voter], voter=voter)
    counts = np.zeros((4, 6, 6))
    np.add.at(counts, (ballots.outcome, left, right), 1)
    voters = VoterVotes(voter, left, right, ballots.outcome, np.ones(3000, dtype=int))
    tally = Tally.from_side_counts(counts)
    alone, together = estimate_side_bias(tally), estimate_side_bias(tally, voters)
    assert together.points == alone.points
    assert together.se > 2 * alone.se
    assert together.design_effect == pytest.approx((together.se / alone.se) ** 2)


@pytest.mark.parametrize("bias", [0.0, 0.05, 0.1])
def test_bias_after_strengths_equals_joint_fit(bias):
    rng = np.random.default_rng(8)
    tally = Tally.from_side_counts(counts_by_side(rng, strengths(rng, 12), 4000, bias=bias, left_probability=0.6))
    quick, joint = side_bias._fit_after_strengths(tally), side_bias._joint_fit(tally, np.ones((12, 12), dtype=bool))
    assert quick.bias == pytest.approx(joint.bias, abs=1e-6)
    assert quick.variance == pytest.approx(joint.variance, rel=1e-5)
    assert np.abs(quick.theta - joint.theta + joint.theta.mean()).max() < 1e-6
    assert np.abs(quick.towards - joint.towards + joint.towards.mean()).max() < 1e-6
