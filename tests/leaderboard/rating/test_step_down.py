import numpy as np
import pytest

from leaderboard.rating.step_down import MAX_CRITICAL_DISTANCE, critical_distance


def by_definition(distance, draws, weights, level):
    doubtful = np.triu(distance <= MAX_CRITICAL_DISTANCE, 1)
    while doubtful.any():
        largest = [np.abs((draw[:, None] - draw) * weights)[doubtful].max() for draw in draws.T]
        certain = doubtful & (distance > np.quantile(np.array(largest, dtype=np.float32), level))
        if not certain.any():
            break
        doubtful &= ~certain
    return np.triu(~doubtful, 1)


@pytest.mark.parametrize(
    ("models", "spread"),
    [(1, 1), (2, 0), (2, 3), (3, 100), (12, 0), (12, 2), (12, 40), (60, 0.5), (60, 8), (60, 30)],
    ids=lambda value: str(value),
)
def test_critical_distance_matches_definition(models: int, spread: float):
    random = np.random.default_rng([models, int(spread * 10)])
    score = np.sort(random.normal(0, spread, models))[::-1]
    mixing = random.normal(size=(models, models)) / np.sqrt(models) + np.eye(models)
    covariance = mixing @ mixing.T
    deviation = np.diag(covariance)
    variance = deviation[:, None] + deviation - 2 * covariance
    weights = np.divide(1, np.sqrt(variance), out=np.zeros_like(variance), where=variance > 1e-12)
    distance = np.triu((score[:, None] - score) * weights, 1)
    draws = (mixing @ random.normal(size=(models, 400))).astype(np.float32)
    weights = weights.astype(np.float32)
    bound = critical_distance(distance, draws, weights, level=0.95)
    assert ((distance > bound) == by_definition(distance, draws, weights, 0.95)).all()
