import numpy as np
import pytest

from leaderboard.rating.anomalies.eprocess import KINDS, Anomaly, VoterLog, judge
from leaderboard.rating.anomalies.expected_votes import BUTTONS
from tests.worlds.ratings import simulations
from tests.worlds.ratings.simulations import LEFT, RIGHT, TIE, Ballots
from tests.worlds.ratings.voter_verdicts import verdicts

pytestmark = pytest.mark.slow

MODELS = 20


def crowd(rng, *, voters=200, each=60, models=MODELS):
    return simulations.crowd(rng, models=models, voters=voters, each=each)


def test_honest_voters_are_rarely_flagged():
    rng = np.random.default_rng(1)
    arenas = [verdicts(crowd(rng, voters=500, each=60)[1], models=MODELS) for _ in range(4)]
    assert sum((arena.crossed > 0).sum() for arena in arenas) <= 2 * 1e-4 * 2000
    # The test has power: at a level of one half, some voters are flagged.
    assert 0.02 < np.mean(verdicts(crowd(rng)[1], models=MODELS, alpha=0.5).crossed > 0) <= 0.5


@pytest.mark.slow
def test_honest_voters_of_small_arena_are_not_flagged():
    rng = np.random.default_rng(2)
    arenas = [verdicts(crowd(rng, voters=5, each=100, models=8)[1], models=8) for _ in range(40)]
    assert sum((arena.crossed > 0).sum() for arena in arenas) == 0


@pytest.mark.slow
def test_voters_for_one_model_are_flagged_with_the_model():
    """Models that nearly always win are left out: votes for them look like honest votes."""
    rng = np.random.default_rng(3)
    theta, honest = crowd(rng, voters=300)
    crossed, named, false_alarms = [], [], 0
    for target in np.flatnonzero(theta < 1.5):
        partisans = simulations.partisans(rng, target=target, models=MODELS, voters=3, each=60)
        judged = verdicts(honest.joined_by_new_voters(partisans), models=MODELS)
        crossed.extend(judged.crossed[300:])
        named.extend((judged.model[300:] == target) & (judged.tilt[300:] > 0))
        false_alarms += (judged.crossed[:300] > 0).sum()
    assert np.mean(np.array(crossed) > 0) >= 0.95
    assert np.median(crossed) <= 25
    assert np.mean(named) >= 0.8  # for the weakest models the bet against the favourite may lead
    assert false_alarms == 0


def verdicts_on_others(rng, outcome_of, *, each):
    """Return the verdicts on 30 voters among 300 honest ones; outcome_of(θ, left, right) returns their votes."""
    theta, ballots = crowd(rng, voters=300)
    left, right = simulations.random_pairs(rng, MODELS, 30 * each)
    others = Ballots(left, right, outcome_of(theta, left, right), np.repeat(np.arange(30), each))
    judged = verdicts(ballots.joined_by_new_voters(others), models=MODELS)
    return judged.crossed[300:], [KINDS[kind] for kind in judged.kind[300:]]


@pytest.mark.parametrize(
    ("each", "outcome_of", "kind"),
    [
        (60, lambda theta, left, right: np.where(theta[left] > theta[right], LEFT, RIGHT), Anomaly.FAVOURITE),
        (60, lambda theta, left, right: np.where(theta[left] > theta[right], RIGHT, LEFT), Anomaly.FAVOURITE),
        (60, lambda theta, left, right: np.full(len(left), TIE), Anomaly.TIES),
        (
            120,
            lambda theta, left, right: np.random.default_rng(0).choice([LEFT, RIGHT, TIE], p=BUTTONS, size=len(left)),
            Anomaly.CHANCE,
        ),
    ],
    ids=["always the favourite", "never the favourite", "always a tie", "any button"],
)
def test_other_anomalies_are_flagged(each, outcome_of, kind):
    crossed, kinds = verdicts_on_others(np.random.default_rng(4), outcome_of, each=each)
    assert np.mean(crossed > 0) >= 0.9
    assert kind in kinds


def test_voters_without_ties_are_not_flagged():
    def decided(theta, left, right):
        p = 1 / (1 + np.exp(theta[right] - theta[left]))
        return np.where(np.random.default_rng(0).random(len(left)) < p, LEFT, RIGHT)

    crossed, _ = verdicts_on_others(np.random.default_rng(5), decided, each=200)
    assert (crossed > 0).mean() <= 0.05


def test_verdict_is_product_of_likelihood_ratios():
    rng = np.random.default_rng(6)
    left, right = simulations.random_pairs(rng, 4, 30)
    outcome, probabilities = rng.integers(3, size=30), rng.dirichlet([4, 4, 3], size=30)
    judged = judge(VoterLog(np.zeros(30, dtype=int), left, right, outcome, probabilities), models=4, alpha=0.2)
    order_met = list(dict.fromkeys(np.column_stack([left, right]).ravel()))
    tilts, steep, wealth = (-1.5, -0.75, 0.75, 1.5), (-3, -1.5, -0.75, 0.75, 1.5, 3), []

    def gain(tilt, gets, t):
        return np.exp(tilt * gets[outcome[t]]) / (probabilities[t] @ np.exp(tilt * np.array(gets)))

    bets = [1 / 8]
    bets += [1 / 16] * 2 + [1 / 16] * 4
    bets += [(1 / 4 + 1 / ((k + 1) * (k + 2))) / 24 for _ in steep for k in map(order_met.index, range(4))]
    spare = 1 - sum(bets)
    bets = np.array(bets)
    for t in range(30):
        favoured = (1, 0, 0.5) if probabilities[t, LEFT] > probabilities[t, RIGHT] else (0, 1, 0.5)
        ratios = [BUTTONS[outcome[t]] / probabilities[t, outcome[t]]]
        ratios += [gain(tilt, (0, 0, 1), t) for tilt in tilts[2:]] + [gain(tilt, favoured, t) for tilt in tilts]
        for tilt in steep:
            got = {left[t]: (1, 0, 0.5), right[t]: (0, 1, 0.5)}
            ratios += [gain(tilt, got[model], t) if model in got else 1 for model in range(4)]
        bets = bets * ratios
        wealth.append(bets.sum() + spare)
    assert judged.log_e[0] == pytest.approx(np.log(wealth[-1]))
    over = np.flatnonzero(np.array(wealth) >= 5)
    assert judged.crossed[0] == (over[0] + 1 if len(over) else 0)


def test_verdicts_do_not_depend_on_batches(monkeypatch):
    rng = np.random.default_rng(7)
    _, ballots = crowd(rng, voters=30)
    together = verdicts(ballots, models=MODELS)
    monkeypatch.setattr("leaderboard.rating.anomalies.eprocess.BLOCK_VOTES", 130)
    monkeypatch.setattr("leaderboard.rating.anomalies.expected_votes.STATE_SIZE", 140)
    apart = verdicts(ballots, models=MODELS)
    assert np.allclose(together.log_e, apart.log_e, atol=1e-9)
    assert (together.crossed == apart.crossed).all()
    assert (together.model == apart.model).all()


def test_votes_on_unplaced_models_are_no_evidence():
    unknown = VoterLog(
        np.zeros(50, dtype=int), np.zeros(50, dtype=int), np.ones(50, dtype=int), np.zeros(50, dtype=int),
        np.full((50, 3), np.nan),
    )  # fmt: skip
    judged = judge(unknown, models=2)
    assert judged.log_e[0] == pytest.approx(0)
    assert judged.crossed[0] == 0


def test_empty_log_has_no_verdicts():
    none = np.zeros(0, dtype=int)
    assert len(judge(VoterLog(none, none, none, none, np.zeros((0, 3))), models=3).log_e) == 0
