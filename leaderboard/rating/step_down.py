"""Step-down max-t: the critical distance of all pairwise differences between normal scores.

Each step takes a quantile of the largest difference among the undecided pairs; pairs beyond it are significant and
leave, so the next quantile is smaller. The undecided pairs are always the nearest ones, so the largest difference is
computed once for a core of near pairs and cumulatively, in batches by distance, for the others.
Source: Romano, Wolf, “Exact and approximate stepdown methods for multiple hypothesis testing” (2005).
"""

import numpy as np
from numpy.typing import NDArray

from leaderboard.rating.bradley_terry import Floats, Indices

Draws = NDArray[np.float32]

# Upper bound on the 95 % quantile of the largest of up to 25 million standard normals (Bonferroni).
MAX_CRITICAL_DISTANCE = 6.0
# Lower than every quantile when there are many models; a smaller result is computed again without a core.
CORE_DISTANCE = 3.5
PAIR_BATCH = 32


def critical_distance(distance: Floats, draws: Draws, weights: Draws, *, level: float) -> float:
    """Return the distance beyond which all differences are significant together.

    distance: in standard errors, models in order of scores, shape (models, models), 0 up to the diagonal; draws: from
    N(0, covariance), shape (models, draws); weights: 1 / standard error of each difference, 0 where it has none.
    """
    found = _step_down(distance, draws, weights, level, core=CORE_DISTANCE)
    return _step_down(distance, draws, weights, level, core=0.0) if found < CORE_DISTANCE else found


def _step_down(distance: Floats, draws: Draws, weights: Draws, level: float, *, core: float) -> float:
    """Return the critical distance, or any value below `core` where it is at most `core`."""
    near = _largest_within(draws, np.where(distance <= core, np.triu(weights, 1), 0))
    first, second = np.nonzero((distance > core) & (distance <= MAX_CRITICAL_DISTANCE))
    nearest_first = np.argsort(distance[first, second], kind="stable")
    first, second = first[nearest_first], second[nearest_first]
    distances, pair_weights = distance[first, second], weights[first, second]

    def largest_of(pairs: slice) -> Draws:
        return _largest_of(draws, first[pairs], second[pairs], pair_weights[pairs])

    largest_up_to = [near]
    for start in range(0, len(distances), PAIR_BATCH):
        largest_up_to.append(np.maximum(largest_up_to[-1], largest_of(slice(start, start + PAIR_BATCH))))
    undecided = len(distances)
    while True:
        batches, rest = divmod(undecided, PAIR_BATCH)
        largest = np.maximum(largest_up_to[batches], largest_of(slice(undecided - rest, undecided)))
        bound = float(np.quantile(largest, level))
        left = int(np.searchsorted(distances[:undecided], bound, side="right"))
        if left == undecided or bound < core:
            return min(bound, MAX_CRITICAL_DISTANCE)
        undecided = left


def _largest_within(draws: Draws, weights: Draws) -> Draws:
    """Return the largest |difference| · weight in each draw, shape (draws,); weights: shape (models, models)."""
    largest: Draws = np.zeros_like(draws[0])
    buffer = np.empty_like(draws)
    for model, row in enumerate(weights):
        second = np.flatnonzero(row)
        if len(second):
            span = slice(second[0], second[-1] + 1)  # a view of the draws, not a copy
            differences = np.subtract(draws[span], draws[model], out=buffer[span])
            np.abs(differences, out=differences)
            differences *= row[span, None]
            np.maximum(largest, differences.max(axis=0), out=largest)
    return largest


def _largest_of(draws: Draws, first: Indices, second: Indices, weights: Draws) -> Draws:
    differences = draws[first]
    differences -= draws[second]
    np.abs(differences, out=differences)
    differences *= weights[:, None]
    largest: Draws = differences.max(axis=0, initial=0)
    return largest
