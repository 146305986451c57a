"""Pairs of entrants to compare on a case."""

import random
from enum import StrEnum
from itertools import combinations


class Plan(StrEnum):
    ALL = "all"
    BASELINE = "baseline"
    REGULAR = "regular"


def pairs_of(
    case_seed: int, entrants: int, plan: Plan, *, n: int | None = None, baseline: int = 0
) -> list[tuple[int, int]]:
    """Return pairs (i, j), i < j, sorted. n: pairs of a case by the regular plan; None for as many as entrants.

    The regular plan's pairs connect all entrants from entrants − 1 pairs on, and each is in as many pairs as another if
    2·n is a multiple of entrants.
    """
    if plan == Plan.ALL:
        return list(combinations(range(entrants), 2))
    if plan == Plan.BASELINE:
        return [(min(other, baseline), max(other, baseline)) for other in range(entrants) if other != baseline]
    ring = list(range(entrants))
    random.Random(case_seed).shuffle(ring)  # noqa: S311 (repeatable on purpose)
    return sorted(_circulant(ring, entrants if n is None else n))


def _circulant(ring: list[int], n: int) -> list[tuple[int, int]]:
    """Return n edges: full circles of neighbours, of those at distance two and so on, then a part of a circle."""
    size = len(ring)
    circles = min(n // max(size, 1), (size - 1) // 2)
    rest = n - circles * size
    edges = [edge for distance in range(1, circles + 1) for edge in _at(ring, distance, size)]
    if size % 2 == 0 and (2 * rest == size or circles == (size - 1) // 2):
        # Those at half of the ring: each would be met from both of its ends.
        return edges + _at(ring, size // 2, min(rest, size // 2))
    if circles == (size - 1) // 2:
        return edges
    return edges + _at(ring, circles + 1, rest)


def _at(ring: list[int], distance: int, n: int) -> list[tuple[int, int]]:
    size = len(ring)
    pairs = ((ring[place], ring[(place + distance) % size]) for place in range(n))
    return [(min(pair), max(pair)) for pair in pairs]
