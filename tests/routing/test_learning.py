"""Arithmetic of the router."""

import numpy as np
import pytest

from routing.learning import evaluation, grounded
from routing.learning.choosing import DRAWS, Options, choose, dial_table, win_chances
from routing.learning.features import CELLS, prompt_features
from routing.learning.router import DIALS, Router, Scores, UnusableSnapshot
from routing.learning.voter_weights import voter_weights
from tests.worlds.routing import SyntheticArena, Voters


@pytest.mark.parametrize(
    "other",
    [
        "HE SAID “HELLO   WORLD” AND LEFT",
        "He sa\u200bid\n\n\"hello world\"\tand left",
        "Ｈe said «hello world» and left ",
    ],
)  # fmt: skip
def test_case_spacing_quotes_and_invisibles_change_no_feature(other):
    for features, expected in zip(
        prompt_features([other]), prompt_features(['He said "hello world" and left']), strict=True
    ):
        assert np.array_equal(features, expected)


@pytest.mark.parametrize(
    "texts", [[], [""], ["\x00"], ["\ud800"], ["a" * 100_000], ["\u200b" * 50_000], ["שלום 你好 😀"]]
)
def test_any_text_has_finite_features(texts):
    cells, values = prompt_features(texts)
    assert np.isfinite(values).all()
    assert (np.diff(cells) > 0).all()
    assert not len(cells) or (cells.max() < CELLS and np.isclose(values @ values, 1, atol=1e-5))


def test_newest_turn_is_read_first():
    long = "word " * 2_000
    assert np.array_equal(prompt_features(["first", long])[0], prompt_features([long])[0])
    assert not np.array_equal(prompt_features([long, "last"])[0], prompt_features([long])[0])


def test_outcomes_have_probabilities_and_exact_gradient():
    random = np.random.default_rng(0)
    left, right = random.normal(size=(2, 40)) * 3
    outcome, weight, kappa, step = random.integers(0, 4, 40), random.random(40), -0.3, 1e-6
    chances = grounded.probabilities(left, right, 1 + np.exp(kappa))
    assert chances.min() > 0
    assert np.allclose(chances.sum(axis=0), 1)
    result = grounded.loss(left, right, outcome, weight, kappa)
    assert np.isclose(result.value, -weight @ np.log(chances[outcome, np.arange(40)]))
    for moved, gradient in ((0, result.left), (1, result.right)):
        sides = [left, right]
        for vote in range(40):
            values = []
            for sign in (1, -1):
                changed = [side.copy() for side in sides]
                changed[moved][vote] += sign * step
                values.append(grounded.loss(*changed, outcome, weight, kappa).value)
            assert np.isclose((values[0] - values[1]) / (2 * step), gradient[vote], atol=1e-5)
    above, below = (grounded.loss(left, right, outcome, weight, kappa + sign * step).value for sign in (1, -1))
    assert np.isclose((above - below) / (2 * step), result.kappa, atol=1e-4)


def _choose(theta, sd, costs=None, price=0.0, best=None):
    options = Options(range(len(theta)), np.ones(len(theta)), np.array(costs or [0.01] * len(theta)))
    scores = Scores(np.array(theta, dtype=float), np.array(sd, dtype=float))
    return choose(options, scores, price=price, best=best, random=np.random.default_rng(1), tie_factor=1.5)


def test_best_of_board_is_left_only_for_surely_stronger():
    assert _choose([1.0, 1.2], [0.3, 0.3], best=0).model == 0
    assert _choose([1.0, 1.8], [0.3, 0.3], best=0).model == 0
    assert _choose([1.0, 1.9], [0.3, 0.3], best=0).model == 1
    assert _choose([1.0, 1.2], [0.3, 0.3]).model == 1


def test_cheaper_model_needs_no_surety_only_where_prices_count():
    assert _choose([1.0, 1.2], [0.3, 0.3], [0.1, 0.001], best=0).model == 0
    assert _choose([1.0, 1.2], [0.3, 0.3], [0.1, 0.001], price=1.0, best=0).model == 1


def test_price_prefers_cheap_model_but_never_dear_weak_one():
    assert _choose([1.0, 0.9], [0.1, 0.1], [0.1, 0.001], price=1.0, best=0).model == 1
    assert _choose([1.0, 0.9], [0.1, 0.1], [0.001, 0.1], price=1.0, best=0).model == 0


def test_sure_choice_has_no_pair_and_equal_models_have_one():
    sure, equal = _choose([3.0, -3.0], [0.1, 0.1]), _choose([0.0] * 4, [0.5] * 4)
    assert (sure.pair, sure.propensity) == (None, 1.0)
    assert sure.confidence > 0.99
    assert equal.pair is not None
    assert 1 / DRAWS <= equal.propensity < 1
    assert np.isclose(equal.win_chances, 0.5).all()


def test_one_option_is_chosen_with_certainty():
    only = _choose([0.3], [1.0])
    assert (only.model, only.runner_up, only.confidence, only.pair, only.win_chance) == (0, None, 1.0, None, 0.5)


def test_dials_spend_their_share_of_the_range():
    random = np.random.default_rng(2)
    costs = random.uniform(0.5, 2, (2_000, 6)) * np.array([1, 2, 5, 10, 30, 100]) / 1e4
    chances = win_chances(np.sort(random.normal(size=(2_000, 6))), np.ones(6), 1.5)
    prices = dial_table(chances, costs)
    rows = np.arange(len(costs))
    spent = np.array([costs[rows, (chances - price * costs).argmax(axis=1)].mean() for price in prices])
    lowest = costs.min(axis=1).mean()
    assert np.allclose((spent - lowest) / (spent[-1] - lowest), DIALS, atol=0.02)
    assert prices[-1] == 0
    assert list(prices) == sorted(prices, reverse=True)


@pytest.mark.slow
def test_router_survives_bytes_and_refuses_damage():
    router = SyntheticArena(models=4, seed=1).trained(400).router
    data = router.to_bytes()
    loaded = Router.from_bytes(data)
    scores, expected = (each.scores([0, 3, 99], ["code"], ["def f"]) for each in (loaded, router))
    assert np.allclose(scores.theta, expected.theta, atol=2e-3)
    assert np.allclose(scores.sd, expected.sd, atol=2e-3)
    assert loaded.to_bytes() == data
    for damaged in (b"", data[:1000], data[: len(data) // 2] + b"\0" + data[len(data) // 2 + 1 :]):
        if damaged != data:
            with pytest.raises(UnusableSnapshot):
                Router.from_bytes(damaged)


@pytest.mark.slow
def test_unknown_model_has_mean_and_widest_error():
    router = SyntheticArena(models=6, seed=1).trained(600).router
    theta, sd = router.scores([*range(6), 99], [], ["a question"])
    assert sd[-1] > sd[:-1].max()
    assert theta[:-1].min() < theta[-1] < theta[:-1].max()


def test_random_order_recovers_half_of_gap():
    strong, weak = np.array([1.0, 0, 1, 1] * 100), np.array([0.0, 0, 1, 0] * 100)
    curve = evaluation.gap_curve(strong, weak, np.random.default_rng(0).random(400))
    perfect = evaluation.gap_curve(strong, weak, strong - weak)
    assert abs(curve.area - 0.5) < 0.05
    assert (perfect.least_share(0.5), perfect.least_share(0.8), perfect.area) == (0.25, 0.4, 0.75)


def test_hull_and_its_area_ignore_dominated_points():
    assert evaluation.quality_hull([1, 2, 3, 4], [0.2, 0.1, 0.6, 0.5]) == [(1, 0.2), (3, 0.6), (4, 0.6)]
    assert evaluation.quality_area([1, 2, 3, 4], [0.2, 0.1, 0.6, 0.5]) == pytest.approx((0.8 + 0.6) / 3)
    assert evaluation.quality_area([1, 1], [0.2, 0.4]) is None


def test_calibration_compares_predicted_with_observed():
    predicted, observed = np.array([0.95] * 10 + [0.15] * 10), np.array([1.0] * 9 + [0] + [0.5] * 2 + [0] * 8)
    calibrated = evaluation.calibration(predicted, observed)
    assert calibrated["error"] == pytest.approx(0.05)
    assert [(each["votes"], each["observed"]) for each in calibrated["bins"]] == [(10, pytest.approx(0.1)), (10, 0.9)]


def test_replay_corrects_unequal_draws():
    """Model 0 beats 1 always and 2 never; the pair (0, 1) was drawn nine times as often."""
    size = 3_000
    against_1 = np.random.default_rng(0).random(size) < 0.9
    chosen, voter = np.ones(size, dtype=bool), np.arange(size)
    replayed = evaluation.replay(
        chosen, ~chosen, against_1.astype(float), np.where(against_1, 0.9, 0.1), np.ones(size), voter
    )
    assert abs(replayed.win_share - 0.5) < 0.03
    assert replayed.low < 0.5 < replayed.high
    nothing = evaluation.replay(~chosen, ~chosen, np.ones(size), np.ones(size), np.ones(size), voter)
    assert np.isnan(nothing.win_share)


@pytest.mark.slow
def test_votes_of_people_who_agree_weigh_the_same():
    votes = SyntheticArena(models=6, seed=3).votes(2_000, of_voter=40)
    assert voter_weights(votes).min() > 0.8


@pytest.mark.slow
def test_busy_people_with_tastes_weigh_less_than_others():
    votes = SyntheticArena(models=6, seed=3).votes(2_000, voters=Voters(100, 0.5, 1.2))
    weight, number = voter_weights(votes), np.bincount(votes.voter)
    busiest = weight[votes.voter == number.argmax()][0]
    assert busiest < 0.2 < 0.8 < weight[number[votes.voter] < 5].min()
    # All votes of a busy person count more than those of another.
    assert busiest * number.max() > 5


def test_votes_of_one_person_weigh_the_same():
    votes = SyntheticArena(models=4, seed=3).votes(400, of_voter=400)
    assert np.ptp(voter_weights(votes)) < 1e-12
