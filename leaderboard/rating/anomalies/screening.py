"""Screening for anomalous voters, and for rings among newcomers and among voters who concentrate on a model."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from leaderboard.rating.anomalies.earlier_fits import EarlierFit, Votes, sequential_forecast
from leaderboard.rating.anomalies.eprocess import ALPHA, Verdicts, VoterLog, judge
from leaderboard.rating.anomalies.expected_votes import Crowds, Expectation, average_of, expect, expect_of
from leaderboard.rating.anomalies.focus import concentration, shifts, usual_shares
from leaderboard.rating.anomalies.rings import Ring, find_rings
from leaderboard.rating.bradley_terry import Flags, Floats, Indices

# A group's votes are judged for so many days from the beginning of its period.
HORIZON_DAYS = 35


class Group(StrEnum):
    """Newcomers of a period: of one network, of one inviter, or all; or voters who concentrate on a model."""

    NETWORK = "network"
    INVITATION = "invitation"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    FOCUSED = "focused"


# Small groups first: their votes are held, and the larger ones are judged without them.
PERIOD_DAYS = {Group.NETWORK: 7, Group.INVITATION: 28, Group.DAY: 1, Group.WEEK: 7, Group.MONTH: 28}

# Sd of an honest group's liking of a model, in natural-log units (52 and 17 points). Newcomers of one day may be one
# class or course. Voters of any age come from everywhere, but prompts of one day differ from others.
NEWCOMERS_DRIFT = 0.3
FOCUSED_DRIFT = 0.1

# Days until a screening in which voters of any age concentrate on a model: long ones first, they cover most of a ring.
WINDOWS = (28, 10, 3, 1)
# Least concentration of a member, and α of all models. Beyond what is possible by chance, less evidence is enough.
LEVELS = ((4.0, 1e-3), (0.0, ALPHA))


@dataclass(frozen=True)
class DatedVotes:
    """Votes in order of casting, with the groups of their voters; arrays of shape (votes,)."""

    votes: Votes
    day: Indices
    # Day of the voter's first vote.
    first_day: Indices
    # Numbers, −1 where unknown.
    network: Indices
    inviter: Indices
    # Whether a person accepted the voter, or a group with this vote.
    accepted: Flags
    accepted_of_group: Flags

    def came_in(self, start: int, days: int) -> Flags:
        """Return which votes are by voters whose first vote was in a period."""
        return (self.first_day >= start) & (self.first_day < start + days)


@dataclass(frozen=True)
class FoundRing:
    """Flagged ring among voters of the period that begins on day `first_day`."""

    group: Group
    first_day: int
    ring: Ring


@dataclass(frozen=True)
class Findings:
    """Results of a screening; verdicts are of the voters in `voter`."""

    voter: Indices
    verdicts: Verdicts
    # Expectation of votes by average people.
    average: Expectation
    rings: list[FoundRing]

    @property
    def flagged_voters(self) -> Indices:
        flagged: Indices = self.voter[self.verdicts.crossed > 0]
        return flagged


def screen_voters(dated: DatedVotes, *, models: int, kappa: float = 0.5, alpha: float = ALPHA) -> Findings:
    votes = dated.votes
    forecast = sequential_forecast(votes, models=models, kappa=kappa)
    # Accepted votes do not show the taste by which later ones are judged.
    anew = replace(votes, voter=2 * votes.voter + dated.accepted)
    expectation, crowds = expect(anew, forecast, models=models)
    judged = np.flatnonzero(~dated.accepted)
    judged = judged[np.argsort(votes.voter[judged], kind="stable")]
    voters, number = np.unique(votes.voter[judged], return_inverse=True)
    probabilities = expectation.probabilities()[judged]
    log = VoterLog(number, votes.left[judged], votes.right[judged], votes.outcome[judged], probabilities)
    verdicts = judge(log, models=models, alpha=alpha)
    of_groups = ~(dated.accepted_of_group | np.isin(votes.voter, voters[verdicts.crossed > 0]))
    rings = list(_rings(dated, of_groups, crowds, models=models, kappa=kappa, alpha=alpha))
    rings += focused_rings(dated, of_groups, crowds, models=models, kappa=kappa)
    return Findings(voters, verdicts, average_of(forecast), rings)


def _rings(
    dated: DatedVotes, judged: Flags, crowds: Crowds, *, models: int, kappa: float, alpha: float
) -> Iterator[FoundRing]:
    """Yield rings of newcomers and clear their votes in `judged`."""
    last_day = int(dated.day.max(initial=0))
    earlier_fits: dict[int, EarlierFit] = {}
    for group, days in PERIOD_DAYS.items():
        for start in range(last_day - last_day % days, last_day - HORIZON_DAYS, -days):
            own = np.flatnonzero(dated.came_in(start, days) & (dated.day < start + HORIZON_DAYS))
            members = _members(dated, group, own)
            begin = int(np.searchsorted(dated.day, start))
            if begin == 0 or not (members >= 0).any():
                continue
            if start not in earlier_fits:
                earlier_fits[start] = EarlierFit.of(dated.votes.subset(slice(begin)), models=models, kappa=kappa)
            votes = dated.votes.subset(own)
            forecast = earlier_fits[start].forecast(votes)
            expectation = expect_of(votes, forecast, crowds.before(begin), models=models)
            average, errors = average_of(forecast), earlier_fits[start].errors
            # Votes for one model are votes against others: they are judged again without the strongest ring's votes.
            while rings := find_rings(
                votes, members, expectation, average, errors=errors, models=models, drift=NEWCOMERS_DRIFT,
                judged=judged[own], alpha=alpha,
            ):  # fmt: skip
                judged[own[rings[0].votes]] = False
                yield FoundRing(group, start, rings[0].numbered_by(own))


def _members(dated: DatedVotes, group: Group, own: Indices) -> Indices:
    match group:
        case Group.NETWORK:
            return dated.network[own]
        case Group.INVITATION:
            return dated.inviter[own]
        case _:
            return np.zeros(len(own), dtype=np.int64)


def focused_rings(
    dated: DatedVotes, judged: Flags, crowds: Crowds, *, models: int, kappa: float = 0.5
) -> Iterator[FoundRing]:
    """Yield rings among voters of any age who concentrate on a model; clear their votes in `judged`."""
    for begin in _window_starts(dated):
        votes, own_judged = dated.votes.subset(slice(begin, None)), judged[begin:].copy()
        usual = usual_shares(dated.votes.subset(slice(begin)), models=models)
        focus = concentration(votes, usual)
        fit = EarlierFit.of(dated.votes.subset(slice(begin)), models=models, kappa=kappa)
        forecast = fit.forecast(votes)
        crowd, average = crowds.before(begin), average_of(forecast)
        for level, alpha in LEVELS:
            members = (focus >= level) & own_judged[:, None]
            chosen = np.flatnonzero(members.any(axis=1))
            if not len(chosen):
                continue
            centre, errors = shifts(votes, average, fit.errors, ~members & own_judged[:, None])
            own = votes.subset(chosen)
            expectation = expect_of(own, fit.forecast(own), crowd, models=models)
            none = np.zeros(len(chosen), dtype=np.int64)
            while rings := find_rings(
                own, none, expectation, average.subset(chosen), errors=errors, models=models, drift=FOCUSED_DRIFT,
                judged=members[chosen] & own_judged[chosen, None], alpha=alpha, centre=centre,
            ):  # fmt: skip
                own_judged[chosen[rings[0].votes]] = False
                yield FoundRing(Group.FOCUSED, int(dated.day[begin]), rings[0].numbered_by(chosen + begin))
        judged[begin:] = own_judged


def recent_concentration(dated: DatedVotes, *, models: int) -> Floats:
    """Return the largest concentration of the windows per vote and side, shape (votes, 2); −∞ before all windows."""
    largest = np.full((len(dated.day), 2), -np.inf)
    for begin in _window_starts(dated):
        usual = usual_shares(dated.votes.subset(slice(begin)), models=models)
        focus = concentration(dated.votes.subset(slice(begin, None)), usual)
        np.maximum(largest[begin:], focus, out=largest[begin:])
    return largest


def joins_from(group: Group) -> float:
    """Return the least concentration of voters who join a flagged group without evidence of their own."""
    return 2.0 if group is Group.FOCUSED else 4.0


def _window_starts(dated: DatedVotes) -> list[int]:
    """Return the index of the first vote of each window that has votes before it."""
    last_day = int(dated.day.max(initial=0))
    starts = [int(np.searchsorted(dated.day, last_day - days + 1)) for days in WINDOWS]
    return [start for start in starts if start]
