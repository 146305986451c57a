import numpy as np

from battles.prompting.pairing import Candidate
from leaderboard.aggregation.pair_weights import Plan, weigh_pairs
from leaderboard.rating.sampling import pair_gains
from tests.worlds.ratings import simulations
from tests.worlds.ratings.newcomers import newcomer_half_width
from tests.worlds.ratings.simulations import strengths


def simulated_board(rng, models, votes):
    """Return (θ, votes of each pair)."""
    theta = strengths(rng, models)
    wins, ties = simulations.arena(rng, theta, votes).counts(models)
    return theta, wins + wins.T + ties


def test_pair_gain_is_decrease_in_sum_of_variances():
    theta, votes = simulated_board(np.random.default_rng(1), 6, 80)
    kappa, phi = 0.5, 0.8

    def variances(n, extra=(0, 1, 0.0)):
        i, j, weight = extra
        p = 1 / (1 + np.exp(theta[None] - theta[:, None]))
        information = np.diag((n * p * (1 - p)).sum(axis=1) + kappa / 4) - n * p * (1 - p)
        x = np.eye(6)[i] - np.eye(6)[j]
        return np.linalg.inv(information + weight * p[i, j] * (1 - p[i, j]) * np.outer(x, x)).trace()

    gains = pair_gains(theta, votes, dispersion=phi, kappa=kappa)
    for i, j in ((0, 1), (2, 5), (4, 3)):
        assert np.isclose(gains[i, j], variances(votes) - variances(votes, (i, j, phi)))
    assert np.allclose(gains, gains.T)


def test_every_pair_has_a_positive_gain():
    theta, votes = simulated_board(np.random.default_rng(2), 8, 400)
    apart = np.zeros((18, 18))
    apart[:8, :8], apart[8:16, 8:16] = votes, votes
    gains = pair_gains(np.append(np.append(theta, theta), [0, 0]), apart)
    off_the_diagonal = ~np.eye(18, dtype=bool)
    assert (gains[off_the_diagonal] > 0).all()
    # A model without votes has a larger gain than any settled pair, and so has a vote between the two groups.
    assert gains[16, :16].min() > gains[:8, :8].max()
    assert gains[:8, 8:16].min() > gains[:8, :8].max()


def test_gains_ignore_likely_winner_and_order_of_models():
    rng = np.random.default_rng(3)
    theta, votes = simulated_board(rng, 12, 300)
    gains = pair_gains(theta, votes)
    name = rng.permutation(12)
    assert np.allclose(pair_gains(-theta, votes), gains, rtol=1e-9)
    assert np.allclose(pair_gains(theta[name], votes[np.ix_(name, name)]), gains[np.ix_(name, name)], rtol=1e-9)


def test_pair_weights_keep_a_minimum_and_apply_admin_weights():
    plan = Plan.from_gains([7, 5, 9], [1e-12, 3.0, 1.0])
    probabilities = {(a, b): weight for a, b, weight in weigh_pairs([Candidate(pk, 1) for pk in (5, 7, 9)], plan)}
    assert np.isclose(sum(probabilities.values()), 1)
    assert np.isclose(probabilities[5, 7], 0.1 / 3)
    assert np.isclose(probabilities[7, 9], 0.9 * 3 / 4 + 0.1 / 3)
    assert np.isclose(probabilities[5, 9], 0.9 * 1 / 4 + 0.1 / 3)
    doubled = {(a, b): w for a, b, w in weigh_pairs([Candidate(5, 2), Candidate(7, 1), Candidate(9, 3)], plan)}
    assert np.isclose(doubled[5, 9], 6 * probabilities[5, 9])
    # 11 is not in the plan: its pairs gain as much as the best one.
    unknown = {(a, b): w for a, b, w in weigh_pairs([Candidate(pk, 1) for pk in (5, 7, 11)], plan)}
    assert unknown[5, 11] == unknown[7, 11] > unknown[5, 7] > 0


def test_active_sampling_narrows_newcomer_intervals():
    design = {"models": 40, "newcomers": 5, "old_votes": 20_000, "new_votes": 3_000, "rounds": 4}
    even, _ = newcomer_half_width(np.random.default_rng(4), active=False, **design)
    active, held = newcomer_half_width(np.random.default_rng(4), active=True, **design)
    assert active <= 0.6 * even
    assert held >= 0.9
