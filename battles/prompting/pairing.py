"""Which two models meet: numbers in, numbers out."""

from collections.abc import Callable, Sequence
from itertools import combinations
from random import Random
from typing import NamedTuple


class Candidate(NamedTuple):
    """A drawable model's id and the sampling weight an admin gave it (> 0)."""

    id: int
    weight: float


class Pair(NamedTuple):
    left: int
    right: int
    propensity: float


# Weights of all unordered pairs of at least two candidates: (id, id, weight > 0).
PairWeights = Callable[[Sequence[Candidate]], list[tuple[int, int, float]]]


def uniform_pair_weights(candidates: Sequence[Candidate]) -> list[tuple[int, int, float]]:
    """Every pair alike, times the two admin weights."""
    return [(a.id, b.id, a.weight * b.weight) for a, b in combinations(candidates, 2)]


def draw_pair(
    candidates: Sequence[Candidate], pair_weights: PairWeights, random: Random, *, staying: int | None = None
) -> Pair | None:
    """Two different models and which side each takes; None when there are fewer than two.

    `propensity` is the chance of this unordered pair under `pair_weights` among all pairs of `candidates`.
    With `staying` (a redraw), only pairs with that model are drawn from; the propensity is still the pair's own
    chance among all. Sides are a fair coin, or for a redraw: left is the one who stays.
    """
    weighted = pair_weights(candidates)
    total = sum(weight for *_, weight in weighted)
    possible = [pair for pair in weighted if staying is None or staying in pair[:2]]
    if not possible:
        return None
    first, second, weight = random.choices(possible, weights=[weight for *_, weight in possible])[0]
    if second == staying or (staying is None and random.random() < 0.5):
        first, second = second, first
    return Pair(first, second, weight / total)
