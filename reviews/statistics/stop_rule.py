"""Stop rule of a campaign that is valid however often one looks."""

# A person's opinions on the pair are one number in [0, 1], their mean. A bet against a mean over people of at most μ
# pays 1 + λ · w · (m − μ) for each person who ends. λ is fixed before their mean m is known. If the mean is at most μ,
# wealth does not grow on average, and reaches 1/α with a probability of at most α.
# Sources: Ville (1939); Waudby-Smith, Ramdas, "Estimating means of bounded random variables by betting", JRSS B 86
# (2024); Ramdas, Grünwald, Vovk, Shafer, "Game-theoretic statistics and safe anytime-valid inference" (2023).

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Fewer decide nothing, however many opinions they gave.
MIN_PEOPLE = 8
# Half of the wealth is on the difference that matters, δ over the variance so far (growth is largest near mean over
# variance); the rest is on these in equal parts, for differences that are smaller or larger than expected.
STAKES = (0.15, 0.4, 0.9, 1.8)
MAX_STAKE = 1.9  # below 2, so that no person's mean can ruin a bet against ½
_HALVINGS = 40
_MAX_LOG_WEALTH = 700.0  # of which exp is finite
_SHARES = np.array([0.5, *(0.5 / len(STAKES) for _ in STAKES)])


class Decision(StrEnum):
    BETTER = "better"
    WORSE = "worse"
    EQUAL = "equal"
    NOT_DECIDED = "not_decided"


@dataclass(frozen=True)
class Rule:
    """Parameters that are fixed before a campaign opens."""

    difference: float  # from ½ that matters, 0.1 for 60 : 40
    level: float = 0.05  # of all contrasts together
    contrasts: int = 1

    def __post_init__(self) -> None:
        if not (0 < self.difference < 0.5 and 0 < self.level < 1 and self.contrasts >= 1):
            raise ValueError("difference must be in (0, 0.5), level in (0, 1), and contrasts at least 1")

    @property
    def wealth_to_decide(self) -> float:
        """1/α of each of the two directions."""
        return 2 * self.contrasts / self.level


@dataclass(frozen=True)
class Person:
    """Opinions of a person who ended, on one contrast."""

    name: str
    ended_at: datetime
    opinions: Sequence[float]  # 1: the first is better, ½: a tie, 0: the second
    weight: float = 1.0  # in (0, 1], fixed before the first opinion


@dataclass(frozen=True)
class State:
    decision: Decision
    decided_after: int | None  # people
    people: int
    opinions: int
    mean: float  # over people
    low: float  # bounds of the mean that hold at all times together, with the contrast's share of the level
    high: float


def decide(rule: Rule, people: Sequence[Person]) -> State:
    """Return the state after these people, in any order; the first decision stands."""
    counted = _in_order(people)
    means = np.array(means_in_order(people), dtype=np.float64)
    weights = np.array([person.weight for person in counted], dtype=np.float64)
    if ((weights <= 0) | (weights > 1)).any() or ((means < 0) | (means > 1)).any():
        raise ValueError("weights must be in (0, 1] and opinions in [0, 1]")
    decision, decided_after = decide_means(rule, means, weights)
    low, high = bounds(rule, means, weights)
    mean = float(np.average(means, weights=weights)) if len(counted) else float("nan")
    return State(
        decision, decided_after, len(counted), sum(len(person.opinions) for person in counted), mean, low, high
    )


def means_in_order(people: Sequence[Person]) -> list[float]:
    """Return the mean of each person with opinions, in the order in which they ended."""
    return [float(np.mean(person.opinions)) for person in _in_order(people)]


def _in_order(people: Sequence[Person]) -> list[Person]:
    return sorted((person for person in people if len(person.opinions)), key=lambda one: (one.ended_at, one.name))


def decide_means(rule: Rule, means: Floats, weights: Floats) -> tuple[Decision, int | None]:
    """Return the first decision and after how many people, in the order in which they ended."""
    stakes, above, below = _stakes(rule, means), _Side(means, weights), _Side(1 - means, weights)
    least = rule.wealth_to_decide
    better, worse = (side.first_time(0.5, stakes, least) for side in (above, below))
    # Both ends of the range around ½ have to be refuted.
    ends = [side.first_time(0.5 - rule.difference, stakes, least) for side in (above, below)]
    equal = max(ends) if all(ends) else 0
    times = {Decision.BETTER: better, Decision.WORSE: worse, Decision.EQUAL: equal}
    first = min((after for after in times.values() if after), default=None)
    if first is None:
        return Decision.NOT_DECIDED, None
    return next(decision for decision, after in times.items() if after == first), first


def bounds(rule: Rule, means: Floats, weights: Floats) -> tuple[float, float]:
    """Return the bounds of the mean over people that were not refuted at any time."""
    stakes, least = _stakes(rule, means), rule.wealth_to_decide
    low = _Side(means, weights).refuted(stakes, least)
    return low, max(low, 1 - _Side(1 - means, weights).refuted(stakes, least))


def _stakes(rule: Rule, means: Floats) -> Floats:
    """Return λ from the people before, shape (bets, people)."""
    squares = np.concatenate([[0.25], (means[:-1] - 0.5) ** 2])[: len(means)]
    variance = np.cumsum(squares) / np.arange(1, len(means) + 1)
    towards_difference = np.minimum(rule.difference / variance, MAX_STAKE)
    return np.vstack([towards_difference, *(np.full(len(means), stake) for stake in STAKES)])


@dataclass(frozen=True)
class _Side:
    """Bets that the mean over people is above some μ."""

    means: Floats
    weights: Floats

    def wealth(self, mu: float, stakes: Floats) -> Floats:
        """Return the wealth after each person."""
        # Stakes fall with μ over ½, so that a mean of 0 ruins no bet.
        gains = stakes * min(1.0, 0.5 / mu) * self.weights * (self.means - mu)
        total: Floats = _SHARES @ np.exp(np.minimum(np.cumsum(np.log1p(gains), axis=1), _MAX_LOG_WEALTH))
        return total

    def first_time(self, mu: float, stakes: Floats, least: float) -> int:
        """Return after how many people the mean is surely above μ; 0: not yet."""
        reached = np.flatnonzero(self.wealth(mu, stakes) >= least)
        if not len(reached) or len(self.means) < MIN_PEOPLE:
            return 0
        return max(int(reached[0]) + 1, MIN_PEOPLE)

    def refuted(self, stakes: Floats, least: float) -> float:
        """Return the largest μ that the mean is surely above, or 0."""
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if self.first_time(middle, stakes, least) else (low, middle)
        return low
