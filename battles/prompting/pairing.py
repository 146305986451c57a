"""Random pairing of models by weights; pure functions of ids and numbers."""

from collections.abc import Callable, Sequence
from itertools import combinations
from random import Random
from typing import NamedTuple


class Candidate(NamedTuple):
    """A drawable model's pk and its sampling weight (> 0)."""

    id: int
    weight: float


class Pair(NamedTuple):
    left: int
    right: int
    propensity: float


# Weights of all unordered pairs of at least two candidates: (id, id, weight > 0).
PairWeights = Callable[[Sequence[Candidate]], list[tuple[int, int, float]]]


def uniform_pair_weights(candidates: Sequence[Candidate]) -> list[tuple[int, int, float]]:
    """Weight each pair by the product of its models' weights."""
    return [(a.id, b.id, a.weight * b.weight) for a, b in combinations(candidates, 2)]


def draw_pair(
    candidates: Sequence[Candidate], pair_weights: PairWeights, random: Random, *, staying: int | None = None
) -> Pair | None:
    """Draw two different models on random sides; None if there are fewer than two candidates.

    `propensity` is the probability of this unordered pair under `pair_weights` among all pairs of `candidates`.
    staying: for a redraw, the model that stays and becomes `left`; only its pairs are drawn from, but the propensity
    is still the pair's probability among all pairs.
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
