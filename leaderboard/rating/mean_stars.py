"""How many stars a model's answers get on average, and how sure that is."""

from collections.abc import Iterable, Sequence
from math import sqrt
from typing import NamedTuple

from leaderboard.rating.differences import Z


class MeanStars(NamedTuple):
    """`low` and `high` are the 95 % interval, None where fewer than two people gave stars."""

    mean: float
    low: float | None
    high: float | None
    answers: int


def mean_stars(by_voter: Iterable[Sequence[int]]) -> MeanStars:
    """by_voter: the stars (1 to 5) that each person gave the model's answers, at least one of them.

    The interval allows for people who give more stars than others: each person's deviations from the mean are summed
    before they are squared, and the sum is scaled by people / (people − 1). It never leaves 1 to 5.
    Source: Liang and Zeger (1986), "Longitudinal data analysis using generalized linear models".
    """
    groups = [list(stars) for stars in by_voter]
    number = sum(map(len, groups))
    mean = sum(map(sum, groups)) / number
    if len(groups) < 2:
        return MeanStars(mean, None, None, number)
    squares = sum(sum(stars - mean for stars in group) ** 2 for group in groups)
    half = Z * sqrt(squares * len(groups) / (len(groups) - 1)) / number
    return MeanStars(mean, max(1.0, mean - half), min(5.0, mean + half), number)
