"""Comparison of two contestants from published scores, intervals and votes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf, isfinite, sqrt
from statistics import NormalDist

from leaderboard.rating.elo import SCALE

Z = 1.959963984540054  # of a two-sided 95 % interval


@dataclass(frozen=True)
class Share:
    """Share of votes with its 95 % interval, in [0, 1]."""

    share: float
    low: float
    high: float


def quasi_variances(variances: Sequence[float]) -> list[float]:
    """Return q such that the variance of a difference is about q_i + q_j, from variances of scores with a fixed mean.

    If x_i are independent with variances q_i before centring, then var_i = q_i (1 − 2/M) + Σq/M² and
    Σvar = Σq (1 − 1/M); this solves for q. Exact for two models and for even schedules, approximate otherwise. A
    negative q becomes 0.
    Source: Firth, de Menezes, “Quasi-variances”, Biometrika 91 (2004).
    """
    # Scores with a fixed mean are correlated: the difference of two models has four times the variance of a score.
    count = len(variances)
    if count < 2:
        return list(variances)
    total = sum(variances) * count / (count - 1)
    if count == 2:
        return [total / 2, total / 2]
    return [max(0.0, (variance - total / count**2) / (1 - 2 / count)) for variance in variances]


def variances_of_differences(lines: Iterable[tuple[str, float | None, float | None, bool]]) -> dict[str, float]:
    """Return {name: variance in points²}; the sum of two is the variance of their difference.

    lines: name, bounds of the 95 % interval, and whether it is preliminary, of one group; those without a two-sided
    interval are left out. Preliminary ones keep their own variance.
    """
    known = [(name, ((high - low) / (2 * Z)) ** 2, is_preliminary) for name, low, high, is_preliminary in lines
             if low is not None and high is not None]  # fmt: skip
    own = {name: variance for name, variance, _is_preliminary in known}
    fitted_together = [name for name, _variance, is_preliminary in known if not is_preliminary] or list(own)
    return own | dict(zip(fitted_together, quasi_variances([own[name] for name in fitted_together]), strict=True))


def expected_share(difference: float, variance: float) -> Share:
    """Return the expected share of the first. difference: in points; variance: of the difference, points²."""
    half = Z * sqrt(variance)
    low, high = _win_probability(difference - half), _win_probability(difference + half)
    return Share(_win_probability(difference), low, high)


def observed_share(wins: float, votes: float, *, design_effect: float = 1.0) -> Share:
    """Return wins / votes with Wilson's score interval, as if of votes / design_effect independent votes.

    Ties count ½, which makes it slightly too wide.
    """
    share, squared = wins / votes, Z * Z
    votes /= design_effect
    centre = (share + squared / (2 * votes)) / (1 + squared / votes)
    half = Z / (1 + squared / votes) * sqrt(share * (1 - share) / votes + squared / (4 * votes**2))
    return Share(share, max(0.0, centre - half), min(1.0, centre + half))


def implied_design_effect(observed: Share, votes: float) -> float:
    """Return the design effect with which observed_share has the bound that is nearer to ½; at least 1."""
    bound = min(observed.low, observed.high, key=lambda bound: abs(bound - 0.5))
    variance = bound * (1 - bound)
    return max(1.0, votes * (observed.share - bound) ** 2 / (Z * Z * variance)) if variance > 0 else 1.0


def growth_until_significant(difference: float, variance: float) -> float:
    """Return the factor by which votes must grow until the difference's 95 % interval excludes 0.

    At most 1 if it already does; inf for equal scores. Assumes a variance inversely proportional to the votes.
    """
    return inf if difference == 0 else Z * Z * variance / difference**2


def more_votes(growth: float, votes: int) -> int | None:
    """Return the votes by which a board must grow, None if without limit."""
    return round(max(0.0, growth - 1) * votes) if isfinite(growth) else None


def middle_half_of_growth(difference: float, variance: float) -> tuple[float, float]:
    """Return the quartiles of the growth until significant, over true differences N(difference, variance)."""
    # A 95 % interval would reach from no growth to thousands: that of the difference contains 0.
    largest, smallest = (_size_quantile(difference, variance, level) for level in (0.75, 0.25))
    return growth_until_significant(largest, variance), growth_until_significant(smallest, variance)


def _size_quantile(mean: float, variance: float, level: float) -> float:
    """Return the quantile of |x|, x from N(mean, variance)."""
    distribution = NormalDist(mean, sqrt(variance))
    low, high = 0.0, abs(mean) + 6 * distribution.stdev
    for _ in range(60):
        middle = (low + high) / 2
        if distribution.cdf(middle) - distribution.cdf(-middle) < level:
            low = middle
        else:
            high = middle
    return high


def _win_probability(points: float) -> float:
    return 1 / (1 + 10 ** (-points / SCALE))
