"""Who should meet next: pairs from which the board learns most are drawn more often.

Named by ARENA_PAIR_WEIGHTS, so it runs whenever a battle begins: it reads the plan that the newest snapshot left
(leaderboard.aggregation.sampling_plan) about once a minute and computes nothing else.
"""

import time
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

from battles.prompting.pairing import Candidate
from leaderboard.models import OVERALL, SamplingPlan

EVEN_SHARE = 0.1  # ε: the part of all battles that is shared evenly, whatever the plan says
KEPT_S = 60

WeightedPairs = list[tuple[int, int, float]]


class Plan(NamedTuple):
    """Gains of the pairs of contestants, row by row; place: contestant's id → row. Unknown pairs gain most."""

    place: dict[int, int]
    gains: Sequence[float]
    most: float

    @classmethod
    def of(cls, contestants: Sequence[int], gains: Sequence[float]) -> "Plan":
        return cls({contestant: row for row, contestant in enumerate(contestants)}, gains, max(gains, default=1.0))

    def gain(self, one: int, other: int) -> float:
        row, column = self.place.get(one), self.place.get(other)
        if row is None or column is None:
            return self.most
        if row > column:
            row, column = column, row
        return self.gains[row * (2 * len(self.place) - row - 1) // 2 + column - row - 1]


def pair_weights(candidates: Sequence[Candidate]) -> WeightedPairs:
    """A rule for ARENA_PAIR_WEIGHTS. Every pair alike, times the admin weights, until the first snapshot."""
    return _current_weights(tuple(candidates), _now())


def weigh(candidates: Sequence[Candidate], plan: Plan) -> WeightedPairs:
    """((1 − ε) · the pair's part of all gains + ε · an even part) · the two admin weights: above 0 for every pair."""
    pairs = list(combinations(candidates, 2))
    gains = [plan.gain(a.id, b.id) for a, b in pairs]
    scale, even = (1 - EVEN_SHARE) / (sum(gains) or 1), EVEN_SHARE / max(len(pairs), 1)
    return [
        (a.id, b.id, (scale * gain + even) * a.weight * b.weight) for (a, b), gain in zip(pairs, gains, strict=True)
    ]


def _now() -> int:
    return int(time.monotonic() / KEPT_S)


@lru_cache(maxsize=1)
def _current_plan(_moment: int) -> Plan:
    return Plan.of(*SamplingPlan.objects.filter(pk=OVERALL).values_list("contestants", "gains").first() or ([], []))


# Two at most: everybody, and those who are left when somebody is redrawn. 300 models are 4 MB.
@lru_cache(maxsize=2)
def _current_weights(candidates: tuple[Candidate, ...], moment: int) -> WeightedPairs:
    return weigh(candidates, _current_plan(moment))
