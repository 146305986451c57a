import csv

import numpy as np
import pytest

from leaderboard.rating.bradley_terry import POINTS, NotConnected, maximum_likelihood
from leaderboard.rating.intervals import Z
from leaderboard.rating.style_control import Scaling, fit_style, scaling_of, style_features
from tests.worlds.ratings import reference_votes, simulations
from tests.worlds.ratings.rank_ranges import RankErrors

pytestmark = pytest.mark.slow

EFFECTS = np.array([0.25, -0.1, 0.05, 0.0])


def all_models(models):
    return np.ones(models, dtype=bool)


def styled_arena(rng, models, votes):
    """Return (θ, ballots, features, scaling)."""
    theta, ballots, features = simulations.styled_arena(rng, models=models, votes=votes, effects=EFFECTS)
    return theta, ballots, features, scaling_of(features)


def fit(ballots, features, models, **options):
    options = {"established": all_models(models), "scaling": scaling_of(features), **options}
    return fit_style(ballots.left, ballots.right, ballots.share, features, **options)


@pytest.mark.parametrize("name", ["llmfao_crowd", "mtbench_human"])
def test_style_fit_equals_public_implementations(name):
    results = reference_votes.reference(name)["style"]["arena_reg1e-12_unweighted"]
    place = {model: index for index, model in enumerate(reference_votes.reference(name)["models"])}
    with reference_votes.table_path(name).open() as lines:
        rows = list(csv.DictReader(lines))
    left, right = (np.array([place[row[side]] for row in rows]) for side in ("model_a", "model_b"))
    features = style_features(
        *(
            np.array(
                [[int(row[f"{count}_{side}"]) for count in ("tokens", "headers", "bold", "lists")] for row in rows]
            )
            for side in "ab"
        )
    )
    fitted = fit_style(
        left, right, np.array([{"model_a": 1.0, "model_b": 0.0}.get(row["winner"], 0.5) for row in rows]), features,
        established=all_models(len(place)), scaling=scaling_of(features, mirrored=False), leverages=False, offset=1000,
    )  # fmt: skip
    assert np.abs(fitted.score - results["arena_ratings"]).max() < 1e-3
    assert np.abs(fitted.coefficients - results["arena_coeffs"]).max() < 1e-6
    assert np.abs((fitted.high - fitted.low) / 2 / Z - results["ours_se"]).max() < 1e-6
    assert np.abs(fitted.score - results["ours_ratings"]).max() < 1e-6


def test_style_fit_recovers_effects_and_strengths():
    rng = np.random.default_rng(5)
    held, slopes = [], []
    for _ in range(25):
        theta, ballots, features, scaling = styled_arena(rng, 12, 3000)
        fitted = fit(ballots, features, 12, scaling=scaling)
        truth = 1500 + POINTS * theta
        held.extend((fitted.low <= truth) & (truth <= fitted.high))
        slopes.extend(np.abs(fitted.coefficients - EFFECTS) <= Z * fitted.errors)
    assert 0.9 <= np.mean(held) <= 0.99
    assert 0.88 <= np.mean(slopes) <= 1


def test_constant_style_gives_plain_scores():
    rng = np.random.default_rng(6)
    ballots = simulations.arena(rng, simulations.strengths(rng, 8), 2000)
    fitted = fit(ballots, np.zeros((2000, 4)), 8)
    plain = maximum_likelihood(*ballots.counts(8))
    assert fitted.dropped.all()
    assert np.abs(fitted.score - 1500 - POINTS * plain).max() < 1e-6
    assert (fitted.coefficients == 0).all()


def test_collinear_features_are_dropped():
    rng = np.random.default_rng(7)
    _, ballots, features, _ = styled_arena(rng, 8, 2000)
    model_level = np.linspace(-1, 1, 8)
    doubled = np.column_stack(
        [features[:, 0], np.zeros(2000), features[:, 0] * -2, model_level[ballots.left] - model_level[ballots.right]]
    )
    fitted = fit(ballots, doubled, 8)
    alone = fit(ballots, features[:, :1], 8)
    assert list(fitted.dropped) == [False, True, True, True]
    assert np.abs(fitted.score - alone.score).max() < 1e-6
    assert np.isfinite(np.concatenate([fitted.low, fitted.high, fitted.coefficients, fitted.errors])).all()


def test_separating_feature_is_dropped_and_others_kept():
    rng = np.random.default_rng(8)
    ballots = simulations.arena(rng, simulations.strengths(rng, 5), 500, tie_share=0)
    others = rng.uniform(-1, 1, (500, 2))
    features = np.column_stack([others[:, 0], 2 * ballots.share - 1, others[:, 1]])
    fitted = fit(ballots, features, 5)
    assert list(fitted.separating) == list(fitted.dropped) == [False, True, False]
    alone = fit(ballots, others, 5)
    assert np.abs(fitted.score - alone.score).max() < 1e-6
    assert np.abs(fitted.coefficients[[0, 2]] - alone.coefficients).max() < 1e-9
    assert fitted.coefficients[1] == fitted.errors[1] == 0
    assert np.isfinite(np.concatenate([fitted.low, fitted.high])).all()


@pytest.mark.parametrize("votes", [20, 60, 500])
def test_features_of_single_votes_are_dropped(votes: int):
    rng = np.random.default_rng(9)
    ballots = simulations.arena(rng, simulations.strengths(rng, 3), votes)
    features = np.zeros((votes, 4))
    features[:, 0] = rng.uniform(-1, 1, votes)
    features[np.flatnonzero(ballots.share == 1)[0], 2] = 1
    features[np.flatnonzero(ballots.share == 0)[0], 3] = 1
    fitted = fit(ballots, features, 3)
    assert list(fitted.separating) == [False, False, True, True]
    assert list(fitted.dropped) == [False, True, True, True]
    assert np.abs(fitted.score - fit(ballots, features[:, :1], 3).score).max() < 1e-6


def test_first_of_jointly_separating_features_is_kept():
    rng = np.random.default_rng(13)
    ballots = simulations.arena(rng, simulations.strengths(rng, 4), 800, tie_share=0)
    noise = rng.uniform(-1, 1, 800)
    features = np.column_stack([noise, 0.2 * (2 * ballots.share - 1) - noise, rng.uniform(-1, 1, 800)])
    fitted = fit(ballots, features, 4)
    assert list(fitted.separating) == [False, True, False]
    reordered = fit(ballots, features[:, [1, 0, 2]], 4)
    assert list(reordered.separating) == [False, True, False]


def test_copy_of_separating_feature_is_dropped():
    rng = np.random.default_rng(14)
    ballots = simulations.arena(rng, simulations.strengths(rng, 4), 800, tie_share=0)
    separating = 2 * ballots.share - 1
    noise = rng.uniform(-1, 1, 800)
    fitted = fit(ballots, np.column_stack([separating, separating / 2, 3 * noise + separating, noise]), 4)
    assert list(fitted.separating) == [True, True, False, True]


def test_unconnected_models_have_no_style_fit():
    with pytest.raises(NotConnected):
        fit_style(
            np.array([0, 0]), np.array([1, 1]), np.array([1.0, 1.0]), np.zeros((2, 4)),
            established=all_models(2), scaling=Scaling(np.zeros(4), np.ones(4)),
        )  # fmt: skip


def test_order_of_models_and_sides_do_not_change_style_fit():
    rng = np.random.default_rng(9)
    _, ballots, features, _ = styled_arena(rng, 9, 1500)
    name, swapped = rng.permutation(9), rng.random(1500) < 0.5
    left, right = np.where(swapped, [ballots.right, ballots.left], [ballots.left, ballots.right])
    original = fit(ballots, features, 9)
    mirrored = np.where(swapped[:, None], -features, features)
    again = fit_style(
        name[left], name[right], np.where(swapped, 1 - ballots.share, ballots.share), mirrored,
        established=all_models(9), scaling=scaling_of(mirrored),
    )  # fmt: skip
    for bound in ("score", "low", "high"):
        assert np.abs(getattr(original, bound) - getattr(again, bound)[name]).max() < 1e-9
    assert np.abs(original.coefficients - again.coefficients).max() < 1e-9


def test_vote_with_multiplicity_equals_repeated_votes():
    rng = np.random.default_rng(10)
    _, ballots, features, scaling = styled_arena(rng, 6, 900)
    times = rng.integers(1, 4, 900)
    counted = fit(ballots, features, 6, scaling=scaling, times=times.astype(float))
    repeated = np.repeat(np.arange(900), times)
    expected = fit_style(
        ballots.left[repeated], ballots.right[repeated], ballots.share[repeated], features[repeated],
        established=all_models(6), scaling=scaling,
    )  # fmt: skip
    assert np.abs(counted.low - expected.low).max() < 1e-9
    assert np.abs(counted.errors - expected.errors).max() < 1e-12


def test_style_fit_uses_votes_among_established_models():
    rng = np.random.default_rng(11)
    _, ballots, features, scaling = styled_arena(rng, 8, 2500)
    established = np.arange(8) < 6
    used = np.flatnonzero(established[ballots.left] & established[ballots.right])
    fitted = fit(ballots, features, 8, established=established, scaling=scaling)
    alone = fit_style(
        ballots.left[used], ballots.right[used], ballots.share[used], features[used],
        established=all_models(6), scaling=scaling,
    )  # fmt: skip
    assert np.isnan(fitted.score[6:]).all()
    assert np.abs(fitted.score[:6] - alone.score).max() < 1e-9


def test_votes_of_own_voters_have_no_design_effect():
    rng = np.random.default_rng(12)
    _, ballots, features, _ = styled_arena(rng, 6, 900)
    plain, own_voters = fit(ballots, features, 6), fit(ballots, features, 6, voter=np.arange(900))
    assert np.allclose(own_voters.high, plain.high)
    assert np.allclose(own_voters.errors, plain.errors)


def test_single_voter_has_no_design_effect():
    rng = np.random.default_rng(12)
    _, ballots, features, _ = styled_arena(rng, 6, 900)
    plain, one_voter = fit(ballots, features, 6), fit(ballots, features, 6, voter=np.zeros(900, dtype=int))
    assert np.allclose(one_voter.high, plain.high)
    assert np.allclose(one_voter.errors, plain.errors)


def test_doubled_votes_of_each_voter_keep_intervals():
    rng = np.random.default_rng(14)
    arena = simulations.StyleTastes(models=6, votes=3000, voters=1500, taste=0.3).sample(rng)
    once = arena.fit()
    twice = arena.fit(times=np.full(3000, 2.0))
    assert np.allclose(twice.errors, once.errors, rtol=0.04)
    assert np.allclose(twice.high - twice.low, once.high - once.low, rtol=0.04)


def test_order_of_votes_and_voter_numbers_do_not_matter():
    rng = np.random.default_rng(15)
    _, ballots, features, scaling = styled_arena(rng, 6, 2000)
    voter = rng.integers(-1, 60, 2000)
    order, renamed = rng.permutation(2000), np.append(rng.permutation(60), -1)
    original = fit(ballots, features, 6, scaling=scaling, voter=voter)
    again = fit_style(
        ballots.left[order], ballots.right[order], ballots.share[order], features[order],
        established=all_models(6), scaling=scaling, voter=renamed[voter][order],
    )  # fmt: skip
    assert np.abs(original.high - again.high).max() < 1e-9
    assert np.abs(original.errors - again.errors).max() < 1e-12


def test_sandwich_equals_sums_over_voters():
    rng = np.random.default_rng(16)
    arena = simulations.StyleTastes(models=5, votes=40_000, voters=4000, taste=0.3).sample(rng)
    fitted, ballots = arena.fit(), arena.ballots
    p = 1 / (1 + np.exp(-arena.logits(fitted)))
    rows = np.arange(40_000)
    z = np.zeros((40_000, 9))
    z[rows, ballots.left], z[rows, ballots.right] = 1, -1
    z[:, 5:] = arena.features / scaling_of(arena.features).sd
    inverse = np.linalg.pinv((z * (p * (1 - p))[:, None]).T @ z)
    sums = np.zeros((4000, 9))
    np.add.at(sums, ballots.voter, z * (ballots.share - p)[:, None])
    expected = np.sqrt(np.diag(inverse @ sums.T @ sums @ inverse))
    errors = np.append((fitted.high - fitted.low) / 2 / Z / POINTS, fitted.errors)
    assert ((errors > 0.999 * expected) & (errors < 1.04 * expected)).all()


@pytest.fixture(scope="module")
def fits_with_tastes():
    """Return (fit, limit of many voters) of 150 arenas."""
    rng, design = np.random.default_rng(17), simulations.StyleTastes(models=8, votes=6000, voters=150, taste=0.3)
    arenas = (design.sample(rng) for _ in range(150))
    return [(arena.fit(), arena.limit()) for arena in arenas]


@pytest.mark.slow
def test_tastes_for_length_widen_its_interval(fits_with_tastes):
    held = [np.abs(fit.coefficients - limit.coefficients) <= Z * fit.errors for fit, limit in fits_with_tastes]
    assert np.mean(held) > 0.92
    assert np.mean(held, axis=0)[0] > 0.88


def test_rank_ranges_hold_under_style_control(fits_with_tastes):
    errors = RankErrors()
    for fit, limit in fits_with_tastes:
        errors.add(fit.score, fit.covariance, limit.score)
    assert errors.held.count(False) <= 12
    assert errors.tiers_held.count(False) <= 12
    assert errors.width_ratio < 1


def test_advantage_of_left_side_is_fitted_with_styles():
    rng = np.random.default_rng(18)
    arena = simulations.StyleTastes(models=6, votes=30_000, voters=3000, taste=0.15, side=0.3).sample(rng)
    fitted, limit = arena.fit(side=True), arena.limit(side=True)
    points, error = fitted.side
    assert abs(points - 0.3 * POINTS) < 4 * error < 0.3 * POINTS
    assert np.abs(fitted.score - limit.score).max() < 25
    swapped = simulations.Ballots(
        arena.ballots.right, arena.ballots.left, np.array([1, 0, 2])[arena.ballots.outcome], arena.ballots.voter
    )
    mirrored = fit(
        swapped, -arena.features, 6, scaling=scaling_of(arena.features), voter=arena.ballots.voter, side=True
    )
    assert mirrored.side == pytest.approx((-points, error))
    assert np.abs(mirrored.score - fitted.score).max() < 1e-6


def test_style_covariance_matches_style_intervals():
    rng = np.random.default_rng(12)
    _, ballots, features, _ = styled_arena(rng, 6, 900)
    established = np.array([True] * 5 + [False])
    fitted = fit(ballots, features, 6, established=established, voter=rng.integers(3, size=900))
    half = Z * np.sqrt(np.diag(fitted.covariance)[:5])
    assert np.allclose((fitted.high - fitted.low)[:5], 2 * half)
    assert not fitted.covariance[5].any()
    assert np.allclose(fitted.covariance, fitted.covariance.T)
    variance = np.diag(fitted.covariance)
    differences = variance[:, None] + variance - 2 * fitted.covariance
    assert differences[np.triu_indices(5, 1)].min() > 1
