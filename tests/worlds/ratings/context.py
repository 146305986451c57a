from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from leaderboard.counting import method
from leaderboard.rating.ballots import Ballots, ballots_of
from leaderboard.rating.bradley_terry import Floats
from leaderboard.rating.context.covariates import COVARIATES, context_covariates
from leaderboard.rating.snapshot_fit import SnapshotFit, StyleInput, fit_snapshot
from leaderboard.rating.style_control import Scaling, fit_style
from tests.worlds.ratings.simulations import cast, random_pairs, strengths


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

    def limit(self, theta: Floats, ballots: Ballots) -> dict[str, float]:
        """Return the effects that a fit of such votes of many voters finds.

        Tastes pull shares towards ½, more where circumstances differ, and better models are slower: so the effect of
        the wait on the average vote is not the voters' average.
        """
        context = ballots.context
        assert context is not None
        points, weights = np.polynomial.hermite_e.hermegauss(15)
        logit = theta[ballots.left] - theta[ballots.right] + context @ np.array(self.effects)
        spread = self.taste * np.sqrt((context**2).sum(axis=1))
        share = expit(logit[:, None] + spread[:, None] * points) @ weights / weights.sum()
        used = [name for name, column in zip(COVARIATES, context.T, strict=True) if np.ptp(column)]
        columns = [COVARIATES.index(name) for name in used]
        found = fit_style(
            ballots.left, ballots.right, share, context[:, columns], established=np.ones(self.models, dtype=bool),
            scaling=Scaling(np.zeros(len(used)), np.ones(len(used))), side=True,
        )  # fmt: skip
        return dict(zip(used, found.coefficients.tolist(), strict=True))


def fit(ballots: Ballots) -> SnapshotFit:
    return fit_snapshot(
        ballots.counts, method.default_parameters(), voters=ballots.voter_votes, style=StyleInput(ballots, None)
    )
