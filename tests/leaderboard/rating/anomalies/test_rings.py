from dataclasses import replace

import numpy as np
import pytest

from leaderboard.rating.anomalies.earlier_fits import EarlierFit, Votes, sequential_forecast
from leaderboard.rating.anomalies.expected_votes import Crowd, average_of, expect, expect_of
from leaderboard.rating.anomalies.held_share import HeldVotes
from leaderboard.rating.anomalies.rings import TILTS, find_rings
from leaderboard.rating.anomalies.screening import Group, screen_voters
from tests.worlds.ratings.paid_raters import MAX_HELD, held_shares, paid_raters
from tests.worlds.ratings.ring_scenarios import HONEST, RINGS, People
from tests.worlds.ratings.ring_simulation import START_DAY, Arena, arena, dated_votes, honest_held, outcome_of

SMALL = People(models=12, days=20, per_day=150)


@pytest.fixture(scope="module")
def rigged() -> Arena:
    ring = replace(RINGS[0].ring, days=1)
    return arena(np.random.default_rng(1), SMALL, ring)


@pytest.mark.slow
@pytest.mark.parametrize(
    "scenario",
    [RINGS[0], pytest.param(RINGS[1], marks=pytest.mark.long), *RINGS[2:4]],
    ids=lambda scenario: scenario.name,
)
def test_ring_is_found_and_leaves_few_points(scenario):
    outcome = outcome_of(np.random.default_rng(5), scenario.people, scenario.ring)
    assert 0 < outcome.looks <= scenario.looks
    assert abs(outcome.points_gained) > 50
    assert abs(outcome.points_left) <= scenario.points_left
    assert outcome.honest_held <= 0.01


@pytest.mark.slow
def test_half_honest_ring_is_found():
    scenario = RINGS[-1]
    ring = replace(scenario.ring, days=6)
    assert 0 < outcome_of(np.random.default_rng(6), scenario.people, ring).looks <= 6


@pytest.mark.slow
@pytest.mark.parametrize(
    "scenario", [*(pytest.param(each, marks=pytest.mark.long) for each in HONEST[:2]), *HONEST[2:]],
    ids=lambda crowd: crowd.name,
)  # fmt: skip
def test_honest_people_are_left_alone(scenario):
    held = honest_held(np.random.default_rng(7), scenario.people)
    assert held.voters <= scenario.voters_held
    assert held.votes <= scenario.votes_held
    assert held.rings == 0


@pytest.mark.slow
def test_few_votes_of_paid_raters_are_held():
    ballots, models = paid_raters()
    rng = np.random.default_rng(8)
    orders = (np.arange(len(ballots.voter)), rng.permutation(len(ballots.voter)))
    shares = [held_shares(ballots.subset(order), models) for order in orders]
    assert all(share.held <= MAX_HELD for share in shares)
    # Few are flagged: the share is not kept low by the cap.
    assert all(share.flagged <= 0.1 for share in shares)


@pytest.mark.parametrize(
    ("held", "is_group", "maximum"),
    [
        (HeldVotes(0, 0, 1000), False, 200),
        (HeldVotes(0, 200, 1000), False, 200),
        (HeldVotes(10, 0, 1000), False, 40),
        (HeldVotes(0, 0, 1000), True, 200),
        (HeldVotes(50, 150, 1000), True, 50),
    ],
    ids=["first voter", "first voter beside groups", "second voter", "first group", "second group"],
)
def test_room_for_held_votes_ends_at_cap(held, is_group, maximum):
    room = [
        held.leaves_room(votes, is_group=is_group, caps={"voters": 0.05, "groups": 0.2})
        for votes in (maximum, maximum + 1)
    ]
    assert room == [True, False]


def test_ring_has_direction_and_group(rigged):
    [found_ring] = screen_voters(dated_votes(rigged), models=rigged.models).rings
    assert (found_ring.group, found_ring.first_day) == (Group.DAY, START_DAY + SMALL.days)
    assert found_ring.ring.model == rigged.target
    assert found_ring.ring.tilt > 0
    assert found_ring.ring.observed > 1.5 * found_ring.ring.expected
    assert rigged.rigged[found_ring.ring.votes].mean() > 0.9


@pytest.mark.parametrize("group", [Group.NETWORK, Group.INVITATION])
def test_ring_in_common_group_holds_only_its_votes(rigged, group):
    number = np.where(rigged.rigged, 7, -1)
    dated = dated_votes(rigged)
    dated = replace(dated, network=number) if group is Group.NETWORK else replace(dated, inviter=number)
    # The whole period of the group comes after the earlier votes.
    dated = replace(dated, day=np.where(rigged.rigged, 20_048, dated.day), first_day=np.where(rigged.rigged, 20_048, 0))
    [found_ring] = screen_voters(dated, models=rigged.models).rings
    assert found_ring.group == group
    assert rigged.rigged[found_ring.ring.votes].all()


@pytest.mark.slow
def test_accepted_votes_of_group_are_not_judged_again(rigged):
    dated = dated_votes(rigged)
    [found_ring] = screen_voters(dated, models=rigged.models).rings
    accepted = dated.accepted_of_group.copy()
    accepted[found_ring.ring.votes] = True
    assert screen_voters(replace(dated, accepted_of_group=accepted), models=rigged.models).rings == []


def test_probabilities_come_from_earlier_votes_only(rigged):
    votes, half = rigged.votes, 1500
    changed = replace(votes, outcome=np.where(np.arange(len(votes)) < half, votes.outcome, 1))
    before, after = (
        expect(log, sequential_forecast(log, models=rigged.models), models=rigged.models)[0].probabilities()[: half + 1]
        for log in (votes, changed)
    )
    assert np.isfinite(before[half]).all()
    assert np.allclose(before, after, rtol=0, atol=1e-9, equal_nan=True)


def test_tie_rate_is_learned_per_voter():
    rng, voters = np.random.default_rng(2), 60
    voter = np.arange(12_000) % voters
    left = rng.integers(6, size=12_000)
    right = (left + rng.integers(1, 6, size=12_000)) % 6
    outcome = np.where(rng.random(12_000) < np.where(voter < 30, 0.1, 0.7), 2, rng.integers(2, size=12_000))
    votes = Votes(voter, left, right, outcome)
    expectation, _ = expect(votes, sequential_forecast(votes, models=6), models=6)
    late = np.arange(12_000) > 9000
    assert expectation.probabilities()[late & (voter < 30), 2].mean() == pytest.approx(0.1, abs=0.03)
    assert expectation.probabilities()[late & (voter >= 30), 2].mean() == pytest.approx(0.7, abs=0.05)


def test_ring_evidence_is_ratio_of_probabilities(rigged):
    before = rigged.day < START_DAY + SMALL.days
    fit = EarlierFit.of(rigged.votes.subset(before), models=rigged.models)
    votes = rigged.votes.subset(np.flatnonzero(rigged.rigged)[:60])
    forecast = fit.forecast(votes)
    expectation = expect_of(votes, forecast, Crowd(), models=rigged.models)
    rings = find_rings(
        votes, np.zeros(60, dtype=int), expectation, average_of(forecast), errors=fit.errors, models=rigged.models,
        drift=0.1, alpha=0.5,
    )  # fmt: skip
    [ring] = [ring for ring in rings if ring.model == rigged.target]
    sign, turn = np.where(votes.left == rigged.target, 1, -1), np.arange(60)
    shares = np.where(sign[:, None] > 0, [1, 0, 0.5], [0, 1, 0.5])
    sd = np.hypot(fit.errors[rigged.target], 0.1)
    deltas = np.linspace(-5, 5, 401) * sd
    density = np.exp(-((deltas / sd) ** 2) / 2)
    null = [expectation.probabilities(delta * sign)[turn, votes.outcome].prod() for delta in deltas]
    bets = []
    for tilt in TILTS:
        tilted = expectation.probabilities() * np.exp(tilt * shares)
        bets.append((tilted[turn, votes.outcome] / tilted.sum(axis=1)).prod())
    expected = np.log(np.mean(bets)) - np.log(np.average(null, weights=density))
    assert ring.log_e == pytest.approx(expected, abs=0.05)


def test_arena_of_one_day_has_no_rings():
    simulated = arena(np.random.default_rng(3), People(models=6, days=1, per_day=300))
    assert screen_voters(dated_votes(simulated), models=6).rings == []


def test_arena_without_votes_is_looked_at():
    none = np.zeros(0, dtype=int)
    empty = Votes(none, none, none, none)
    forecast = sequential_forecast(empty, models=3)
    assert expect(empty, forecast, models=3)[0].probabilities().shape == (0, 3)
