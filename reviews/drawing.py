"""Pairs of answers that a review shows, and the draw of the next one. No Django."""

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, NamedTuple

Plan = Literal["all", "regular", "adaptive"]

# The chance that the draw follows its plan; else every cell has the same chance, so that none is impossible.
EVENING_OUT = 0.8
_random = random.SystemRandom()


def pairs_of(answers: Sequence[int], plan: Plan, *, seed: str) -> list[tuple[int, int]]:
    """Return pairs, each in ascending order.

    answers: ids of the answers to one prompt. A regular plan is a ring in the seed's order: connected, and each answer
    is in two pairs.
    """
    if plan != "regular" or len(answers) <= 3:
        return list(combinations(sorted(answers), 2))
    ring = sorted(answers)
    random.Random(seed).shuffle(ring)  # noqa: S311 (a plan is no secret)
    return sorted((min(pair), max(pair)) for pair in zip(ring, [*ring[1:], ring[0]], strict=True))


class Cell(NamedTuple):
    """A pair of models, by ids in ascending order, together with a tag.

    taken: opinions and leases on all its items. room: number of items that can be drawn for this person.
    """

    number: int
    first: int
    second: int
    taken: int
    room: int

    @property
    def models(self) -> tuple[int, int]:
        return self.first, self.second


@dataclass(frozen=True)
class Draw:
    """propensity: chance of each item of the cell. pair_propensity: chance of its two models, in any cell."""

    cell: Cell
    propensity: float
    pair_propensity: float


def draw_cell(
    cells: Sequence[Cell], gains: Mapping[tuple[int, int], float] | None = None, source: random.Random = _random
) -> Draw:
    """Draw one of the cells with the fewest opinions, or with gains of pairs by these. See EVENING_OUT."""
    if gains is None:
        least = min(cell.taken for cell in cells)
        weights = [float(cell.taken == least) for cell in cells]
    else:
        of_pairs = Counter(cell.models for cell in cells)
        weights = [gains[cell.models] / of_pairs[cell.models] for cell in cells]
    total = sum(weights)
    chances = [EVENING_OUT * weight / total + (1 - EVENING_OUT) / len(cells) for weight in weights]
    [(drawn, chance)] = source.choices(list(zip(cells, chances, strict=True)), chances)
    of_pair = sum(chance for cell, chance in zip(cells, chances, strict=True) if cell.models == drawn.models)
    return Draw(drawn, min(1.0, chance / drawn.room), min(1.0, of_pair))


def gains_of_pairs(
    models: Sequence[int], outcomes: Iterable[tuple[int, int, float, int]]
) -> dict[tuple[int, int], float]:
    """Return how much one more opinion tells about each pair, by ids in ascending order.

    outcomes: two models, the share of the first, number of votes. Strengths are those that shrunken shares of wins
    give: what is told depends on them weakly, so no fit is needed.
    """
    import numpy as np  # these are imported late, because other plans do not need them

    from leaderboard.rating.sampling import pair_gains

    rows = {model: row for row, model in enumerate(sorted(models))}
    votes, won = np.zeros((len(rows), len(rows))), np.zeros(len(rows))
    for first, second, share, n in outcomes:
        if first in rows and second in rows:
            votes[rows[first], rows[second]] += n
            votes[rows[second], rows[first]] += n
            won[rows[first]] += share * n
            won[rows[second]] += (1 - share) * n
    shares = (won + 1) / (votes.sum(axis=1) + 2)
    gains = pair_gains(np.log(shares / (1 - shares)), votes)
    return {pair: float(gains[rows[pair[0]], rows[pair[1]]]) for pair in combinations(sorted(models), 2)}
