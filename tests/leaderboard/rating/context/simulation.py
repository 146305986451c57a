from dataclasses import dataclass, replace

import numpy as np

from leaderboard.counting import method
from leaderboard.rating.ballots import Ballots, ballots_of
from leaderboard.rating.bradley_terry import Floats
from leaderboard.rating.context.covariates import context_covariates
from leaderboard.rating.snapshot_fit import SnapshotFit, StyleInput, fit_snapshot
from tests.leaderboard.rating.simulations import cast, random_pairs, strengths


@dataclass(frozen=True)
class ContextDesign:
    """Arena in which better models are slower, and each voter has a taste N(0, taste²) for each circumstance."""

    effects: tuple[float, ...]
    models: int = 8
    votes: int = 12_000
    voters: int = 600
    taste: float = 0.3
    spread: float = 0.0  # sd of the log of a voter's share of the votes

    def sample(self, seed: int) -> tuple[Floats, Ballots]:
        """Return (θ, votes)."""
        rng, size = np.random.default_rng(seed), self.votes
        theta = strengths(rng, self.models)
        left, right = random_pairs(rng, self.models, size)
        speed = 400 * np.exp(theta)
        waits = [np.rint(speed[side] * rng.lognormal(0, 0.8, size)).astype(np.int64) for side in (left, right)]
        files, met = 2 * rng.binomial(1, 0.3, size), rng.integers(-1, 2, size)
        context = context_covariates(files, met, np.zeros(size, dtype=np.int64), *waits)
        assert context is not None
        rate = rng.lognormal(0, self.spread, self.voters)
        voter = rng.choice(self.voters, size=size, p=rate / rate.sum())
        tastes = rng.normal(0, self.taste, (self.voters, context.shape[1]))
        logit = theta[left] - theta[right] + context @ np.array(self.effects) + (tastes[voter] * context).sum(axis=1)
        votes = cast(rng, left, right, logit, voter=voter)
        names = [f"m{number:02}" for number in range(self.models)]
        return theta, replace(ballots_of(names, left, right, votes.outcome, voter=voter), context=context)


def fit(ballots: Ballots) -> SnapshotFit:
    return fit_snapshot(
        ballots.counts, method.default_parameters(), voters=ballots.voter_votes, style=StyleInput(ballots, None)
    )
