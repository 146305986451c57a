from dataclasses import replace

import numpy as np
import pytest

from leaderboard.rating.anomalies.earlier_fits import EarlierFit, Votes
from leaderboard.rating.anomalies.expected_votes import average_of
from leaderboard.rating.anomalies.focus import concentration, shifts, usual_shares
from leaderboard.rating.anomalies.screening import Group, joins_from, recent_concentration, screen_voters
from tests.worlds.ratings.ring_scenarios import Crowd, People, Ring
from tests.worlds.ratings.ring_simulation import START_DAY, arena, crowd_held, dated_votes, outcome_of

SMALL = People(models=12, days=20, per_day=150)
OLD = Ring(20, 20, stays=True, days=1, past=1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "ring",
    [OLD, replace(OLD, past=30, is_regular=True), replace(OLD, promotes=False, rank=0.0), replace(OLD, honest=0.5)],
    ids=["one earlier vote", "regulars", "demoting", "half honest"],
)
def test_old_accounts_with_common_target_are_found(ring):
    simulated = arena(np.random.default_rng(11), SMALL, ring)
    [found_ring] = screen_voters(dated_votes(simulated), models=simulated.models).rings
    assert (found_ring.group, found_ring.ring.model) == (Group.FOCUSED, simulated.target)
    assert (found_ring.ring.tilt > 0) == ring.promotes
    assert simulated.rigged[found_ring.ring.votes].mean() > 0.8
    assert found_ring.ring.votes.size > 0.5 * simulated.rigged.sum()


@pytest.mark.slow
def test_drip_of_new_accounts_leaves_few_points():
    ring = Ring(3, 4, stays=False, days=6)
    outcome = outcome_of(np.random.default_rng(12), SMALL, ring)
    assert 0 < outcome.looks <= 6
    assert abs(outcome.points_left) <= 10
    assert outcome.honest_held <= 0.01


@pytest.mark.slow
@pytest.mark.parametrize(
    "crowd",
    [
        Crowd(40, 10, taste=0.5, waited=14),
        Crowd(40, 10, liking=1.0, waited=14),
        Crowd(40, 10, liking=1.0, seeks=True, is_new=True, waited=14),
        Crowd(40, 10, taste=0.5, only_models=4, waited=14),
    ],
    ids=["course", "fans of one model", "first day of a model", "class with few models"],
)
def test_honest_crowds_are_no_rings(crowd):
    assert crowd_held(np.random.default_rng(13), SMALL, replace(crowd, days=2)) == []


def test_concentration_is_ratio_of_sought_to_drawn():
    # Voter 0 votes six times, four of them with model 0; voter 1 once.
    left, right = np.array([0, 1, 0, 0, 1, 2, 1]), np.array([1, 0, 2, 3, 4, 4, 3])
    votes = Votes(np.array([0, 0, 0, 0, 0, 0, 1]), left, right, np.zeros(7, int))
    ratios = concentration(votes, np.full(5, 0.2))

    def ratio(number, every, drawn):
        sought = [0.95, 0.5, 0.2]
        each = [(s / drawn + 1 - s) ** number * (1 - s) ** (every - number) for s in sought]
        return pytest.approx(np.log(np.mean(each)))

    # Voter 0 met four other models on the eight other sides.
    assert list(ratios[[0, 1, 2], [0, 1, 0]]) == [ratio(4, 6, 8 / 6 / 4)] * 3
    assert list(ratios[[2, 3], [1, 1]]) == [ratio(2, 6, 10 / 6 / 4), ratio(1, 6, 11 / 6 / 4)]
    assert ratios[6, 0] == ratio(1, 1, 0.9)


def test_concentration_does_not_depend_on_votes():
    simulated = arena(np.random.default_rng(14), SMALL, OLD)
    changed = replace(simulated.votes, outcome=np.zeros(len(simulated.votes), dtype=int))
    usual = usual_shares(simulated.votes, models=simulated.models)
    assert (concentration(simulated.votes, usual) == concentration(changed, usual)).all()


def test_change_of_strength_is_learned_from_other_voters():
    rng = np.random.default_rng(15)
    before, after = (arena(rng, replace(SMALL, taste=0.0)) for _ in range(2))
    fit = EarlierFit.of(before.votes, models=12)
    # The models of the second arena have other strengths.
    truth = EarlierFit.of(after.votes, models=12).theta
    average = average_of(fit.forecast(after.votes))
    everyone = np.ones((len(after.votes), 2), dtype=bool)
    mean, sd = shifts(after.votes, average, fit.errors, everyone)
    assert np.corrcoef(mean, truth - fit.theta)[0, 1] > 0.8
    assert (sd < fit.errors + 0.1).all()
    none, same = shifts(after.votes, average, fit.errors, ~everyone)
    assert (none == 0).all()
    assert same == pytest.approx(np.hypot(fit.errors, 0.1))


def test_voters_who_concentrate_join_a_flagged_group():
    simulated = arena(np.random.default_rng(16), SMALL, replace(OLD, each=4))
    joins = recent_concentration(dated_votes(simulated), models=simulated.models) >= joins_from(Group.FOCUSED)
    with_target = np.column_stack([simulated.votes.left, simulated.votes.right]) == simulated.target
    joined = (joins & with_target).any(axis=1)
    assert joined[simulated.rigged].mean() > 0.8
    assert joined[~simulated.rigged & (simulated.day == START_DAY + SMALL.days)].mean() < 0.02
