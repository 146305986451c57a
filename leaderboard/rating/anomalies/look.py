"""Look for anomalous voters, and for rings among groups of newcomers."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from leaderboard.rating.anomalies.earlier_fits import EarlierFit, Votes, sequential_forecast
from leaderboard.rating.anomalies.eprocess import ALPHA, Verdicts, VoterLog, judge
from leaderboard.rating.anomalies.expected_votes import Crowds, Expectation, average_of, expect, expect_of
from leaderboard.rating.anomalies.rings import Ring, find_rings
from leaderboard.rating.bradley_terry import Flags, Indices

# A group's votes are judged for so many days from the beginning of its period.
HORIZON_DAYS = 35


class Group(StrEnum):
    """Newcomers in common: by network or inviter, or all with their first vote on a day, in a week, in four weeks."""

    NETWORK = "network"
    INVITATION = "invitation"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"


# Small groups first: their votes are held, and the larger ones are judged without them.
PERIOD_DAYS = {Group.NETWORK: 7, Group.INVITATION: 28, Group.DAY: 1, Group.WEEK: 7, Group.MONTH: 28}


@dataclass(frozen=True)
class DatedVotes:
    """Votes in order of casting, with what groups voters; arrays of shape (votes,).

    day, first_day: of the vote, and of its voter's first vote; network, inviter: numbers, −1 where unknown.
    accepted: votes of voters that a person accepted; accepted_models: shape (votes, 2), the same for a group's votes
    with the left and the right model.
    """

    votes: Votes
    day: Indices
    first_day: Indices
    network: Indices
    inviter: Indices
    accepted: Flags
    accepted_models: Flags


@dataclass(frozen=True)
class FoundRing:
    """Flagged ring among voters with their first vote from day `first_day` of a period of PERIOD_DAYS[group]."""

    group: Group
    first_day: int
    ring: Ring


@dataclass(frozen=True)
class Findings:
    """Results of a look. voter, verdicts: by voter with votes to judge; average: votes of average people."""

    voter: Indices
    verdicts: Verdicts
    average: Expectation
    rings: list[FoundRing]

    @property
    def flagged_voters(self) -> Indices:
        flagged: Indices = self.voter[self.verdicts.crossed > 0]
        return flagged


def look(dated: DatedVotes, *, models: int, kappa: float = 0.5, alpha: float = ALPHA) -> Findings:
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
    held = np.isin(votes.voter, voters[verdicts.crossed > 0])
    rings = list(_rings(dated, held, crowds, models=models, kappa=kappa, alpha=alpha))
    return Findings(voters, verdicts, average_of(forecast), rings)


def _rings(
    dated: DatedVotes, held: Flags, crowds: Crowds, *, models: int, kappa: float, alpha: float
) -> Iterator[FoundRing]:
    """Yield rings; votes that are held already, and those of a ring, are not judged again."""
    judged = ~(dated.accepted_models | held[:, None])
    last_day = int(dated.day.max(initial=0))
    earlier_fits: dict[int, EarlierFit] = {}
    for group, days in PERIOD_DAYS.items():
        for start in range(last_day - last_day % days, last_day - HORIZON_DAYS, -days):
            own = np.flatnonzero(
                (dated.first_day >= start) & (dated.first_day < start + days) & (dated.day < start + HORIZON_DAYS)
            )
            members = _members(dated, group, own)
            begin = int(np.searchsorted(dated.day, start))
            if begin == 0 or not (members >= 0).any():
                continue
            if start not in earlier_fits:
                earlier_fits[start] = EarlierFit.of(dated.votes.subset(slice(begin)), models=models, kappa=kappa)
            votes = dated.votes.subset(own)
            forecast = earlier_fits[start].forecast(votes)
            expectation = expect_of(votes, forecast, crowds.before(begin), models=models)
            for ring in find_rings(
                votes, members, expectation, average_of(forecast), models=models, judged=judged[own], alpha=alpha
            ):
                ring = ring.numbered_by(own)
                on_left = dated.votes.left[ring.votes] == ring.model
                judged[ring.votes, np.where(on_left, 0, 1)] = False
                yield FoundRing(group, start, ring)


def _members(dated: DatedVotes, group: Group, own: Indices) -> Indices:
    match group:
        case Group.NETWORK:
            return dated.network[own]
        case Group.INVITATION:
            return dated.inviter[own]
        case _:
            return np.zeros(len(own), dtype=np.int64)
