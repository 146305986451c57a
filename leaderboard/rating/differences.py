"""Two contestants compared, from what a board publishes: their scores, intervals and what they took from each other."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, sqrt

from leaderboard.rating.elo import SCALE

Z = 1.959963984540054  # of a two-sided 95 % interval


@dataclass(frozen=True)
class Share:
    """A share of votes with its 95 % interval, all in [0, 1]."""

    share: float
    low: float
    high: float


def variances_for_differences(variances: Sequence[float]) -> list[float]:
    """q such that the variance of a difference is about q_i + q_j, from the variances of scores with a fixed mean.

    Scores whose mean is fixed pull on each other, so that their own variances do not add up: with two models the
    variance of the difference is four times one's own. Were the scores x_i independent with variances q_i before their
    mean was taken off, then var_i = q_i (1 − 2/M) + Σq/M² and Σvar = Σq (1 − 1/M); this solves for q. Exact for two
    models and for even schedules; Firth and de Menezes, “Quasi-variances”, Biometrika 91 (2004), say why it is close
    otherwise. A negative q becomes 0.
    """
    count = len(variances)
    if count < 2:
        return list(variances)
    total = sum(variances) * count / (count - 1)
    if count == 2:
        return [total / 2, total / 2]
    return [max(0.0, (variance - total / count**2) / (1 - 2 / count)) for variance in variances]


def expected_share(difference: float, variance: float) -> Share:
    """What the first is expected to take from the second. In points and points²: difference of scores, its variance."""
    half = Z * sqrt(variance)
    return Share(_chance(difference), _chance(difference - half), _chance(difference + half))


def observed_share(taken: float, votes: int) -> Share:
    """`taken` of `votes` (ties as halves), with Wilson's score interval; halves make it a little too wide."""
    share, squared = taken / votes, Z * Z
    centre = (share + squared / (2 * votes)) / (1 + squared / votes)
    half = Z / (1 + squared / votes) * sqrt(share * (1 - share) / votes + squared / (4 * votes**2))
    return Share(share, max(0.0, centre - half), min(1.0, centre + half))


def growth_until_apart(difference: float, variance: float) -> float:
    """By which factor a board's votes must grow, cast as until now, until 0 leaves the difference's 95 % interval.

    At most 1 when it has left it already; inf for equal scores. The variance falls with the number of votes.
    """
    return inf if difference == 0 else Z * Z * variance / difference**2


def _chance(points: float) -> float:
    return 1 / (1 + 10 ** (-points / SCALE))
