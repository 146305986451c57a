"""Arenas of honest people with rings, and nightly looks that hold votes."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from leaderboard.rating.anomalies.earlier_fits import Votes, sequential_forecast
from leaderboard.rating.anomalies.expected_votes import expect
from leaderboard.rating.anomalies.screening import (
    HORIZON_DAYS,
    PERIOD_DAYS,
    DatedVotes,
    FoundRing,
    Group,
    focused_rings,
    joins_from,
    recent_concentration,
    screen_voters,
)
from leaderboard.rating.board_fit import fit_board
from tests.worlds.ratings import simulations
from tests.worlds.ratings.ring_scenarios import Crowd, People, Ring

Ints = NDArray[np.int64]
START_DAY = 20_000
TIE_SHARE = 0.5


@dataclass(frozen=True)
class Arena:
    """Votes in order of casting; rigged: shape (votes,), dishonest days of a ring's account; targets: models."""

    votes: Votes
    day: Ints
    rigged: NDArray[np.bool_]
    network: Ints
    models: int
    targets: tuple[int, ...]

    @property
    def target(self) -> int:
        return self.targets[0]

    def scores(self, counted: NDArray[np.bool_]) -> np.ndarray:
        """Return the targets' scores."""
        votes = self.votes.subset(counted)
        ballots = simulations.Ballots(votes.left, votes.right, votes.outcome, votes.voter)
        scores: np.ndarray = fit_board(*ballots.counts(self.models)).score[list(self.targets)]
        return scores


@dataclass(frozen=True)
class _Part:
    """Votes of one kind of people."""

    votes: Votes
    day: Ints
    rigged: NDArray[np.bool_]
    network: Ints

    @classmethod
    def joined(cls, parts: "list[_Part]") -> "_Part":
        names = Votes.__dataclass_fields__
        votes = Votes(*(np.concatenate([getattr(part.votes, name) for part in parts]) for name in names))
        rest = (np.concatenate([getattr(part, name) for part in parts]) for name in ("day", "rigged", "network"))
        return cls(votes, *rest)

    def subset(self, which: np.ndarray) -> "_Part":
        return _Part(self.votes.subset(which), self.day[which], self.rigged[which], self.network[which])


def arena(rng: Generator, people: People, ring: Ring | None = None, crowd: Crowd | None = None) -> Arena:
    """Return an arena of honest people for people.days, then with the ring or the crowd for its days."""
    theta = np.sort(simulations.strengths(rng, people.models))[::-1]
    days = people.days + (ring.days if ring else 0) + (crowd.days if crowd else 0)
    day, voter = _visits(rng, people, days)
    left, right = simulations.random_pairs(rng, people.models, len(day))
    unknown = np.full(len(day), -1)
    parts = [_Part(_cast(rng, theta, people, left, right, voter), day, np.zeros(len(day), bool), unknown)]
    voters, targets = int(voter.max()) + 1, (0,)
    if ring:
        first = round(ring.rank * (people.models - 1))
        targets = tuple((first + 7 * number) % people.models for number in range(ring.targets))
        parts.append(_ring_part(rng, theta, people, ring, targets, voters))
    if crowd:
        parts.append(_crowd_part(rng, theta, people, crowd, voters))
        if crowd.is_new:
            is_early = (parts[0].day < people.days) & ((left == people.models - 1) | (right == people.models - 1))
            parts[0] = parts[0].subset(~is_early)
    joined = _Part.joined(parts)
    joined = joined.subset(np.lexsort((rng.random(len(joined.day)), joined.day)))
    return Arena(joined.votes, joined.day + START_DAY, joined.rigged, joined.network, people.models, targets)


def _ring_part(
    rng: Generator, theta: np.ndarray, people: People, ring: Ring, targets: tuple[int, ...], voters: int
) -> _Part:
    day, account = _ring_visits(ring, first=people.days)
    old = np.flatnonzero(np.arange(int(account.max()) + 1) >= ring.newcomers * (account.max() + 1))
    past = np.repeat(old, ring.past)
    past_day = rng.integers(people.days if ring.is_regular else 2, size=len(past))
    target = np.array(targets)[account % ring.targets]
    left, right = simulations.random_pairs(rng, people.models, len(past))
    votes = [
        _cast(rng, theta, people, left, right, past + voters),
        _rig(rng, theta, people, ring, target, account + voters),
    ]
    all_accounts = np.append(past, account)
    network = all_accounts % ring.networks if ring.networks else np.full(len(all_accounts), -1)
    names = Votes.__dataclass_fields__
    both = Votes(*(np.concatenate([getattr(part, name) for part in votes]) for name in names))
    rigged = np.append(np.zeros(len(past), bool), np.ones(len(account), bool))
    return _Part(both, np.append(past_day, day), rigged, network)


def _crowd_part(rng: Generator, theta: np.ndarray, people: People, crowd: Crowd, voters: int) -> _Part:
    account = np.tile(np.repeat(np.arange(crowd.accounts), crowd.each), crowd.days)
    day = people.days + np.repeat(np.arange(crowd.days), crowd.accounts * crowd.each)
    if crowd.waited:
        account = np.append(np.arange(crowd.accounts), account)
        day = np.append(np.full(crowd.accounts, people.days - crowd.waited), day)
    favourite, votes = people.models - 1 if crowd.is_new else people.models // 2, len(account)
    left, right = simulations.random_pairs(rng, crowd.only_models or people.models, votes)
    if crowd.seeks:
        other, on_left = rng.integers(people.models - 1, size=votes), rng.random(votes) < 0.5
        other += other >= favourite
        begun = day >= people.days
        early_left, early_right = simulations.random_pairs(rng, people.models - 1, votes)
        left = np.where(begun, np.where(on_left, favourite, other), early_left)
        right = np.where(begun, np.where(on_left, other, favourite), early_right)
    shared = rng.normal(0, crowd.taste, people.models)
    shared[favourite] += crowd.liking
    cast = _cast(rng, theta + shared, people, left, right, account + voters)
    return _Part(cast, day, np.zeros(votes, bool), np.full(votes, -1))


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
    account = account if ring.stays else account + day * ring.accounts
    begun = day >= account % ring.staggered
    return first + day[begun], account[begun]


def _cast(rng: Generator, theta: np.ndarray, people: People, left: Ints, right: Ints, voter: Ints) -> Votes:
    number = np.unique(voter, return_inverse=True)[1]
    people_count = int(number.max(initial=-1)) + 1
    taste = rng.normal(0, people.taste, (people_count, people.models))
    readiness = np.exp(rng.normal(0, people.readiness, people_count))[number]
    logit = theta[left] - theta[right] + taste[number, left] - taste[number, right]
    tie_share = np.minimum(TIE_SHARE * readiness, 0.95)
    outcome = simulations.cast(rng, left, right, logit, tie_share=tie_share).outcome
    return Votes(voter, left, right, outcome)


def _rig(rng: Generator, theta: np.ndarray, people: People, ring: Ring, target: Ints, voter: Ints) -> Votes:
    left, right = simulations.random_pairs(rng, people.models, len(voter))
    serves = rng.random(len(voter)) >= ring.honest
    other = (target + rng.integers(1, people.models, size=len(voter))) % people.models
    on_left = rng.random(len(voter)) < 0.5
    left = np.where(serves, np.where(on_left, target, other), left)
    right = np.where(serves, np.where(on_left, other, target), right)
    if ring.is_drawn:
        left, right = simulations.random_pairs(rng, people.models, len(voter))
        on_left, serves = left == target, (left == target) | (right == target)
    votes = _cast(rng, theta, people, left, right, voter)
    recognised = serves & (rng.random(len(voter)) < ring.recognition)
    outcome = np.where(recognised, np.where(on_left == ring.promotes, 0, 1), votes.outcome)
    return Votes(voter, left, right, outcome)


@dataclass(frozen=True)
class Outcome:
    """A ring's effect. looks: nightly looks until a tenth of its votes were held, 0: never; points: of its targets."""

    looks: int
    points_gained: float
    points_left: float
    rigged_held: float
    honest_held: float


def outcome_of(rng: Generator, people: People, ring: Ring, *, nights_after: int = 1) -> Outcome:
    """Look each night of the ring and `nights_after` its last vote."""
    one = arena(rng, people, ring)
    held, found_at, nights = np.zeros(len(one.day), bool), 0, Nights(one)
    for number in range(1, ring.days + nights_after + 1):
        upto = one.day < START_DAY + people.days + number
        held = nights.screen(upto)
        if not found_at and (held & one.rigged & upto).sum() >= 0.1 * (one.rigged & upto).sum():
            found_at = number
    honest, everything = ~one.rigged, np.ones(len(held), bool)
    truth = one.scores(honest)
    gained, left = one.scores(everything) - truth, one.scores(~held) - truth
    return Outcome(
        found_at, float(gained[np.argmax(abs(gained))]), float(left[np.argmax(abs(left))]),
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
    found = screen_voters(dated_votes(one), models=one.models)
    held = np.isin(one.votes.voter, found.flagged_voters)
    # Looks at the end of earlier months complete the days whose groups are judged.
    rings, last = len(found.rings), one.day.max()
    for day in range(last - 35, START_DAY, -35):
        rings += len(screen_voters(dated_votes(one, one.day <= day), models=one.models).rings)
    rings += _focused_rings_of_nights(one)
    voters = len(np.unique(one.votes.voter))
    return HonestHeld(len(found.flagged_voters) / voters, float(held.mean()), rings, people.models * people.days)


def _focused_rings_of_nights(one: Arena) -> int:
    """Return how many groups that concentrate on a model are found on every third night."""
    _, crowds = expect(one.votes, sequential_forecast(one.votes, models=one.models), models=one.models)
    rings = 0
    for day in range(START_DAY + 3, one.day.max() + 1, 3):
        dated = dated_votes(one, one.day <= day)
        rings += len(list(focused_rings(dated, np.ones(len(dated.day), bool), crowds, models=one.models)))
    return rings


def crowd_held(rng: np.random.Generator, people: People, crowd: Crowd) -> list[FoundRing]:
    """Return groups found on any night of an honest crowd."""
    one, rings = arena(rng, people, crowd=crowd), []
    for number in range(1, crowd.days + 1):
        upto = one.day < START_DAY + people.days + number
        rings += screen_voters(dated_votes(one, upto), models=one.models).rings
    return rings


class Nights:
    """Nightly looks at an arena, as leaderboard.aggregation.anomalies holds votes."""

    def __init__(self, one: Arena) -> None:
        self.arena = one
        self.held = np.zeros(len(one.day), bool)
        self.found: list[FoundRing] = []

    def screen(self, upto: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which votes are held after a look at the votes `upto`, also later ones of held voters and models."""
        one, votes = self.arena, self.arena.votes
        sides = np.column_stack([votes.left, votes.right])
        self._extend(upto & ~self.held, upto)
        counted = upto & ~self.held
        dated = dated_votes(one, counted)
        findings = screen_voters(dated, models=one.models)
        self.held |= np.isin(votes.voter, findings.flagged_voters)
        for found in findings.rings:
            of_group = np.zeros(len(self.held), bool)
            of_group[np.flatnonzero(counted)[found.ring.votes]] = True
            if found.group is not Group.FOCUSED:
                came_in = dated.votes.voter[dated.came_in(found.first_day, PERIOD_DAYS[found.group])]
                of_group |= np.isin(votes.voter, came_in) & (sides == found.ring.model).any(axis=1)
            self._hold(of_group, found.ring.model, upto)
        self.found += findings.rings
        self._extend(counted, upto)
        return self.held

    def _hold(self, of_group: NDArray[np.bool_], model: int, upto: NDArray[np.bool_]) -> None:
        votes = self.arena.votes
        with_model = (votes.left == model) | (votes.right == model)
        self.held |= of_group | np.isin(votes.voter, votes.voter[of_group]) & with_model & ~upto

    def _extend(self, counted: NDArray[np.bool_], upto: NDArray[np.bool_]) -> None:
        dated = dated_votes(self.arena, counted)
        last_day = int(dated.day.max())
        focus = recent_concentration(dated, models=self.arena.models)
        sides = np.column_stack([dated.votes.left, dated.votes.right])
        recent = [found for found in self.found if found.first_day >= last_day - HORIZON_DAYS]
        for model, is_focused in {(found.ring.model, found.group is Group.FOCUSED) for found in recent}:
            group = Group.FOCUSED if is_focused else Group.DAY
            own = np.zeros(len(self.held), bool)
            own[np.flatnonzero(counted)] = ((focus >= joins_from(group)) & (sides == model)).any(axis=1)
            self._hold(own, model, upto)


def dated_votes(one: Arena, counted: NDArray[np.bool_] | None = None) -> DatedVotes:
    which = np.ones(len(one.day), bool) if counted is None else counted
    votes = one.votes.subset(which)
    _, position, number = np.unique(one.votes.voter, return_index=True, return_inverse=True)
    no = np.zeros(len(votes), bool)
    first_day = one.day[position][number][which]
    return DatedVotes(votes, one.day[which], first_day, one.network[which], np.full(len(votes), -1), no, no)
