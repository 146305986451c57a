"""Mean stars of a model's answers, with an interval."""

from collections.abc import Iterable, Sequence
from math import sqrt
from typing import NamedTuple

from leaderboard.rating.differences import Z


class MeanStars(NamedTuple):
    """Mean with its 95 % interval; low and high are None with fewer than two voters."""

    mean: float
    low: float | None
    high: float | None
    answers: int


def mean_stars(by_voter: Iterable[Sequence[int]]) -> MeanStars:
    """Return the mean over all stars, 1 to 5. by_voter: each voter's stars; at least one in all.

    The interval is clustered by voter, with the factor voters / (voters − 1), and clipped to 1 to 5.
    Source: Liang and Zeger (1986), "Longitudinal data analysis using generalized linear models".
    """
    return mean_of_sums([(sum(stars), len(stars)) for stars in by_voter])


def mean_of_sums(by_voter: Sequence[tuple[int, int]]) -> MeanStars:
    """Return the same from each voter's (sum of stars, number of stars)."""
    number = sum(answers for _, answers in by_voter)
    mean = sum(total for total, _ in by_voter) / number
    if len(by_voter) < 2:
        return MeanStars(mean, None, None, number)
    squares = sum((total - answers * mean) ** 2 for total, answers in by_voter)
    half = Z * sqrt(squares * len(by_voter) / (len(by_voter) - 1)) / number
    return MeanStars(mean, max(1.0, mean - half), min(5.0, mean + half), number)
