"""Arenas of honest people with rings, and nightly looks that hold votes."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from leaderboard.rating.anomalies.earlier_fits import Votes
from leaderboard.rating.anomalies.look import PERIOD_DAYS, DatedVotes, look
from leaderboard.rating.board_fit import fit_board
from tests.leaderboard.rating import simulations
from tests.leaderboard.rating.anomalies.ring_scenarios import People, Ring

Ints = NDArray[np.int64]
START_DAY = 20_000
TIE_SHARE = 0.5


@dataclass(frozen=True)
class Arena:
    """Votes in order of casting; rigged: shape (votes,), cast by a ring's account; target: −1 without a ring."""

    votes: Votes
    day: Ints
    rigged: NDArray[np.bool_]
    models: int
    target: int

    def score(self, counted: NDArray[np.bool_]) -> float:
        votes = self.votes.subset(counted)
        ballots = simulations.Ballots(votes.left, votes.right, votes.outcome, votes.voter)
        return float(fit_board(*ballots.counts(self.models)).score[self.target])


def arena(rng: Generator, people: People, ring: Ring | None = None) -> Arena:
    """Return an arena of honest people for people.days, then with the ring for ring.days."""
    theta = np.sort(simulations.strengths(rng, people.models))[::-1]
    days = people.days + (ring.days if ring else 0)
    day, voter = _visits(rng, people, days)
    left, right = simulations.random_pairs(rng, people.models, len(day))
    voters = int(voter.max()) + 1
    votes, rigged, target = [_cast(rng, theta, people, left, right, voter)], [np.zeros(len(day), bool)], -1
    all_days = [day]
    if ring:
        target = round(ring.rank * (people.models - 1))
        day, voter = _ring_visits(ring, first=people.days)
        votes.append(_rig(rng, theta, people, ring, target, voter + voters))
        rigged.append(np.ones(len(day), bool))
        all_days.append(day)
    joined = Votes(*(np.concatenate([getattr(part, name) for part in votes]) for name in Votes.__dataclass_fields__))
    day = np.concatenate(all_days)
    order = np.lexsort((rng.random(len(day)), day))
    return Arena(joined.subset(order), day[order] + START_DAY, np.concatenate(rigged)[order], people.models, target)


def _visits(rng: Generator, people: People, days: int) -> tuple[Ints, Ints]:
    """Return (day, voter): people come on a day, and again some days later; heavy-tailed numbers of votes."""
    day, voter, number = [], [], 0
    while sum(map(len, day)) < days * people.per_day:
        first = rng.integers(-20, days)
        votes = 1 + rng.geometric(1 / people.votes_each) if rng.random() < 0.9 else int(8 * people.votes_each)
        own = first + np.floor(rng.exponential(6, votes)).astype(np.int64)
        own = own[(own >= 0) & (own < days)]
        day.append(own)
        voter.append(np.full(len(own), number))
        number += 1
    return np.concatenate(day), np.concatenate(voter)


def _ring_visits(ring: Ring, *, first: int) -> tuple[Ints, Ints]:
    day = np.repeat(np.arange(ring.days), ring.accounts * ring.each)
    account = np.tile(np.repeat(np.arange(ring.accounts), ring.each), ring.days)
    return first + day, account if ring.stays else account + day * ring.accounts


def _cast(rng: Generator, theta: np.ndarray, people: People, left: Ints, right: Ints, voter: Ints) -> Votes:
    number = np.unique(voter, return_inverse=True)[1]
    taste = rng.normal(0, people.taste, (number.max() + 1, people.models))
    readiness = np.exp(rng.normal(0, people.readiness, number.max() + 1))[number]
    logit = theta[left] - theta[right] + taste[number, left] - taste[number, right]
    tie_share = np.minimum(TIE_SHARE * readiness, 0.95)
    outcome = simulations.cast(rng, left, right, logit, tie_share=tie_share).outcome
    return Votes(voter, left, right, outcome)


def _rig(rng: Generator, theta: np.ndarray, people: People, ring: Ring, target: int, voter: Ints) -> Votes:
    left, right = simulations.random_pairs(rng, people.models, len(voter))
    serves = rng.random(len(voter)) >= ring.honest
    other = (target + rng.integers(1, people.models, size=len(voter))) % people.models
    on_left = rng.random(len(voter)) < 0.5
    left = np.where(serves, np.where(on_left, target, other), left)
    right = np.where(serves, np.where(on_left, other, target), right)
    votes = _cast(rng, theta, people, left, right, voter)
    recognised = serves & (rng.random(len(voter)) < ring.recognition)
    outcome = np.where(recognised, np.where(on_left == ring.promotes, 0, 1), votes.outcome)
    return Votes(voter, left, right, outcome)


@dataclass(frozen=True)
class Outcome:
    """A ring's effect. looks: nightly looks until a tenth of its votes were held, 0: never; points: of the target."""

    looks: int
    points_gained: float
    points_left: float
    rigged_held: float
    honest_held: float


def outcome_of(rng: Generator, people: People, ring: Ring) -> Outcome:
    one = arena(rng, people, ring)
    held = np.zeros(len(one.day), bool)
    found_at = 0
    for number in range(1, ring.days + 1):
        upto = one.day < START_DAY + people.days + number
        held |= hold(one, upto & ~held)
        if not found_at and (held & one.rigged & upto).sum() >= 0.1 * (one.rigged & upto).sum():
            found_at = number
    honest, everything = ~one.rigged, np.ones(len(held), bool)
    truth = one.score(honest)
    return Outcome(
        found_at, one.score(everything) - truth, one.score(~held) - truth,
        float(held[one.rigged].mean()), float(held[honest].mean()),
    )  # fmt: skip


@dataclass(frozen=True)
class HonestHeld:
    """Shares of voters and votes held in an arena; rings: found in model_days."""

    voters: float
    votes: float
    rings: int
    model_days: int


def honest_held(rng: np.random.Generator, people: People) -> HonestHeld:
    one = arena(rng, people)
    found = look(dated_votes(one.votes, one.day), models=one.models)
    held = np.isin(one.votes.voter, found.flagged_voters)
    # Looks at the end of earlier months complete the days whose groups are judged.
    rings, last = len(found.rings), one.day.max()
    for day in range(last - 35, START_DAY, -35):
        earlier = one.day <= day
        rings += len(look(dated_votes(one.votes.subset(earlier), one.day[earlier]), models=one.models).rings)
    voters = len(np.unique(one.votes.voter))
    return HonestHeld(len(found.flagged_voters) / voters, float(held.mean()), rings, people.models * people.days)


def hold(one: Arena, counted: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Look at the counted votes; return which votes are held then, also later ones of the same voters and model."""
    dated = dated_votes(one.votes.subset(counted), one.day[counted])
    findings = look(dated, models=one.models)
    held = np.isin(one.votes.voter, findings.flagged_voters)
    for found in findings.rings:
        members = dated.votes.voter[dated.came_in(found.first_day, PERIOD_DAYS[found.group])]
        with_model = (one.votes.left == found.ring.model) | (one.votes.right == found.ring.model)
        held |= np.isin(one.votes.voter, members) & with_model
    return held


def dated_votes(votes: Votes, day: Ints) -> DatedVotes:
    first = np.zeros(int(votes.voter.max()) + 1, dtype=np.int64)
    voters, position = np.unique(votes.voter, return_index=True)
    first[voters] = day[position]
    none = np.full(len(day), -1)
    no = np.zeros(len(day), bool)
    return DatedVotes(votes, day, first[votes.voter], none, none, no, no)
