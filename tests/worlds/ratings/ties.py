import numpy as np
from scipy.special import expit

from leaderboard.rating.ballots import Ballots
from leaderboard.rating.bradley_terry import Floats
from leaderboard.rating.counts import count_votes
from tests.worlds.ratings.simulations import LEFT, RIGHT, TIE, random_pairs


def rao_kupper_ballots(
    rng: np.random.Generator, models: int, votes: int, *, n: int = 1, outcome: int | None = None
) -> tuple[Floats, Ballots]:
    """Return (η, votes) of Rao and Kupper's model, η = ln ν of each model.

    n: how often each vote counts; outcome: of all votes, otherwise random.
    """
    theta, eta = rng.normal(0, 0.7, models), np.exp(rng.normal(np.log(0.25), 0.5, models))
    left, right = random_pairs(rng, models, votes)
    gap, tie = theta[left] - theta[right], eta[left] + eta[right]
    won, lost, chance = expit(gap - tie), expit(-gap - tie), rng.random(votes)
    drawn = np.where(chance < won, LEFT, np.where(chance < won + lost, RIGHT, TIE))
    outcomes, each = drawn if outcome is None else np.full(votes, outcome), np.full(votes, n)
    counts = count_votes([f"m{number:03d}" for number in range(models)], left, right, outcomes, each)
    return eta, Ballots(counts, left, right, outcomes, each, np.arange(votes), np.zeros((votes, 4)))
