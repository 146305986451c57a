import numpy as np

from leaderboard.rating.bradley_terry import Flags, Floats
from leaderboard.rating.rank_ranges.truths import correlated, standard_normals
from leaderboard.rating.ranks import difference_errors

LEVEL = 0.95


def plainly_above(score: Floats, covariance: Floats) -> Flags:
    """Return above[i, j], shape (models, models): i is better than j; familywise error rate over all pairs.

    Source: Romano, Wolf, “Exact and approximate stepdown methods for multiple hypothesis testing” (2005).
    """
    first, second = np.triu_indices(len(score), 1)
    scale = difference_errors(covariance)[first, second]
    errors = correlated(covariance + covariance.trace() / len(score) ** 2, standard_normals(len(score)))
    distance = np.abs(score[first] - score[second]) / scale
    drawn = np.abs(errors[first] - errors[second]) / scale[:, None]
    undecided = np.ones(len(scale), dtype=bool)
    while undecided.any():
        bound = np.quantile(drawn[undecided].max(axis=0), LEVEL)
        decided = undecided & (distance > bound)
        if not decided.any():
            break
        undecided &= ~decided
    above = np.zeros(covariance.shape, dtype=bool)
    above[first, second] = ~undecided & (score[first] > score[second])
    above[second, first] = ~undecided & (score[first] < score[second])
    return above
