"""Active sampling: draw pairs more often from which the board learns more.

Every new battle calls pair_weights, which only reads the plan of sampling_plan, about once a minute.
"""

import time
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

from battles.prompting.pairing import Candidate
from leaderboard.models import OVERALL, SamplingPlan

EVEN_SHARE = 0.1  # ε: the part of battles that is shared evenly among all pairs
PLAN_TTL_S = 60

WeightedPairs = list[tuple[int, int, float]]


class Plan(NamedTuple):
    """Gains of pairs, as in SamplingPlan. row_by_id: {contestant's id: row}; unknown pairs have the largest gain."""

    row_by_id: dict[int, int]
    gains: Sequence[float]
    max_gain: float

    @classmethod
    def from_gains(cls, contestants: Sequence[int], gains: Sequence[float]) -> "Plan":
        return cls({contestant: row for row, contestant in enumerate(contestants)}, gains, max(gains, default=1.0))

    def gain(self, one: int, other: int) -> float:
        row, column = self.row_by_id.get(one), self.row_by_id.get(other)
        if row is None or column is None:
            return self.max_gain
        if row > column:
            row, column = column, row
        return self.gains[row * (2 * len(self.row_by_id) - row - 1) // 2 + column - row - 1]


def pair_weights(candidates: Sequence[Candidate]) -> WeightedPairs:
    """Return weights by gain, for ARENA_PAIR_WEIGHTS; equal before the first snapshot."""
    return _current_weights(tuple(candidates), _ttl_period())


def weigh_pairs(candidates: Sequence[Candidate], plan: Plan) -> WeightedPairs:
    """Return positive weights ((1 − ε) · pair's share of all gains + ε / number of pairs) · both admin weights."""
    pairs = list(combinations(candidates, 2))
    gains = [plan.gain(a.id, b.id) for a, b in pairs]
    scale, even = (1 - EVEN_SHARE) / (sum(gains) or 1), EVEN_SHARE / max(len(pairs), 1)
    return [
        (a.id, b.id, (scale * gain + even) * a.weight * b.weight) for (a, b), gain in zip(pairs, gains, strict=True)
    ]


def _ttl_period() -> int:
    """Return a number that changes every PLAN_TTL_S and so expires the cached results."""
    return int(time.monotonic() / PLAN_TTL_S)


@lru_cache(maxsize=1)
def _current_plan(_period: int) -> Plan:
    return Plan.from_gains(
        *SamplingPlan.objects.filter(pk=OVERALL).values_list("contestants", "gains").first() or ([], [])
    )


# Two entries: all candidates, and the remaining ones when a side is redrawn. 300 models take 4 MB.
@lru_cache(maxsize=2)
def _current_weights(candidates: tuple[Candidate, ...], period: int) -> WeightedPairs:
    return weigh_pairs(candidates, _current_plan(period))
