"""Step-down max-t: from which distance on all differences between normal scores are certain together.

Each step asks for a quantile of the largest difference among those still in doubt; what lies beyond it leaves, and the
next quantile is smaller. As only distance decides who leaves, those in doubt are always the nearest ones: the largest
difference is taken once for a core of near pairs and ring by ring for the others, and a step costs next to nothing.
Source: Romano, Wolf, “Exact and approximate stepdown methods for multiple hypothesis testing” (2005).
"""

import numpy as np
from numpy.typing import NDArray

from leaderboard.rating.bradley_terry import Floats, Indices

Draws = NDArray[np.float32]

# The 95 % quantile of the largest of m standard normals stays below this up to 25 million pairs (Bonferroni).
BEYOND_DOUBT = 6.0
# With many models, no quantile is as small as this.
CORE = 3.5
PAIRS_AT_ONCE = 32


def certain_beyond(distance: Floats, draws: Draws, weights: Draws, *, level: float) -> float:
    """distance: in standard errors, of models in the order of their scores, shape (models, models), 0 up to the
    diagonal; draws: shape (models, draws), scores with the covariance of the true ones; weights: 1 / standard error of
    each difference, 0 where there is none.
    """
    found = _step_down(distance, draws, weights, level, core=CORE)
    return _step_down(distance, draws, weights, level, core=0.0) if found < CORE else found


def _step_down(distance: Floats, draws: Draws, weights: Draws, level: float, *, core: float) -> float:
    """The distance, or something below `core` where it is not beyond it."""
    near = _largest_within(draws, np.where(distance <= core, np.triu(weights, 1), 0))
    first, second = np.nonzero((distance > core) & (distance <= BEYOND_DOUBT))
    nearest_first = np.argsort(distance[first, second], kind="stable")
    first, second = first[nearest_first], second[nearest_first]
    distances, heaviness = distance[first, second], weights[first, second]

    def largest_of(ring: slice) -> Draws:
        return _largest_of(draws, first[ring], second[ring], heaviness[ring])

    inside = [near]
    for start in range(0, len(distances), PAIRS_AT_ONCE):
        inside.append(np.maximum(inside[-1], largest_of(slice(start, start + PAIRS_AT_ONCE))))
    doubtful = len(distances)
    while True:
        rings, rest = divmod(doubtful, PAIRS_AT_ONCE)
        largest = np.maximum(inside[rings], largest_of(slice(doubtful - rest, doubtful)))
        bound = float(np.quantile(largest, level))
        left = int(np.searchsorted(distances[:doubtful], bound, side="right"))
        if left == doubtful or bound < core:
            return min(bound, BEYOND_DOUBT)
        doubtful = left


def _largest_within(draws: Draws, weights: Draws) -> Draws:
    """The largest |difference| · weight in each draw, shape (draws,), of pairs above the weights' diagonal."""
    largest: Draws = np.zeros_like(draws[0])
    room = np.empty_like(draws)
    for model, row in enumerate(weights):
        second = np.flatnonzero(row)
        if len(second):
            span = slice(second[0], second[-1] + 1)  # a view of the draws, not a copy
            differences = np.subtract(draws[span], draws[model], out=room[span])
            np.abs(differences, out=differences)
            differences *= row[span, None]
            np.maximum(largest, differences.max(axis=0), out=largest)
    return largest


def _largest_of(draws: Draws, first: Indices, second: Indices, weights: Draws) -> Draws:
    """As _largest_within, of some pairs."""
    differences = draws[first]
    differences -= draws[second]
    np.abs(differences, out=differences)
    differences *= weights[:, None]
    largest: Draws = differences.max(axis=0, initial=0)
    return largest
