from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.random import Generator

from leaderboard.rating.board_fit import fit_board
from leaderboard.rating.bradley_terry import Flags, Floats, Indices
from leaderboard.rating.rank_ranges.tiers import tiers
from leaderboard.rating.ranks import difference_errors, significantly_above
from tests.worlds.ratings.simulations import arena, random_pairs, strengths, uneven_pairs
from tests.worlds.ratings.step_down import plainly_above


@dataclass(frozen=True)
class RankDesign:
    """Simulated arena. strengths: draws θ of a number of models, natural-log units."""

    name: str
    models: int
    votes: int
    strengths: Callable[[Generator, int], Floats] = strengths
    pairs: Callable[..., Any] = random_pairs
    tie_share: float = 0.3


def even_strengths(rng: Generator, models: int) -> Floats:
    return rng.uniform(-1, 1, models)


def heavy_tailed_strengths(rng: Generator, models: int) -> Floats:
    return 0.4 * rng.standard_t(2, models)


def close_strengths(rng: Generator, models: int) -> Floats:
    return rng.normal(0, 0.3, models)


def strengths_with_tail(rng: Generator, models: int) -> Floats:
    """Return θ of which half are nearly equal and better than the others."""
    half = models // 2
    return np.concatenate([rng.normal(0, 0.02, half), -0.3 - np.abs(rng.normal(0, 1.2, models - half))])


def strengths_in_threes(rng: Generator, models: int) -> Floats:
    """Return θ of groups of three nearly equal models, half a unit apart."""
    return np.arange(models) // 3 * 0.5 + rng.normal(0, 1e-6, models)


@dataclass(frozen=True)
class EqualPairs:
    """θ half a unit apart, but for some pairs of equal models."""

    pairs: int

    def __call__(self, rng: Generator, models: int) -> Floats:
        theta = 0.5 * rng.permutation(models).astype(np.float64)
        order = np.argsort(theta)
        theta[order[1 : 2 * self.pairs : 2]] = theta[order[: 2 * self.pairs : 2]]
        return theta


# Strengths as boards have them: the bars hold over these.
USUAL = [
    RankDesign("10 models, 400 votes", 10, 400),
    RankDesign("12 models, uneven votes", 12, 900, pairs=uneven_pairs),
    RankDesign("12 models, mostly ties", 12, 600, tie_share=0.8),
    RankDesign("20 models, evenly spread", 20, 2000, even_strengths),
    RankDesign("20 models, heavy tails", 20, 2000, heavy_tailed_strengths),
    RankDesign("30 models, 3,000 votes", 30, 3000),
    RankDesign("30 models, 100,000 votes", 30, 100_000),
    RankDesign("60 models, uneven votes", 60, 20_000, pairs=uneven_pairs),
]
# Strengths that no prior expects, and strengths that votes hardly separate.
HARD = [
    RankDesign("20 close models", 20, 2000, close_strengths),
    RankDesign("20 models, ten nearly equal ones first", 20, 2000, strengths_with_tail),
    RankDesign("21 models, equal in threes", 21, 4000, strengths_in_threes),
]
# Of these, only the tiers have a bar: levels of equal models are no board's strengths.
EQUAL = [RankDesign(f"12 models, equal pairs: {pairs}", 12, 12_000, EqualPairs(pairs)) for pairs in (1, 2, 6)]


@dataclass
class RankErrors:
    """Per arena: whether all ranges hold, their mean width (worst − best), and both for the plain step-down.

    tiers_held: whether all orders of tiers are true; tiers: their number.
    """

    held: list[bool] = field(default_factory=list)
    width: list[float] = field(default_factory=list)
    plain_held: list[bool] = field(default_factory=list)
    plain_width: list[float] = field(default_factory=list)
    tiers_held: list[bool] = field(default_factory=list)
    tiers: list[int] = field(default_factory=list)

    def add(self, score: Floats, covariance: Floats, truth: Floats) -> None:
        """Compare the ranges of an arena's established models with the true ranks."""
        _compare(significantly_above(score, covariance), truth, self.held, self.width)
        _compare(plainly_above(score, covariance), truth, self.plain_held, self.plain_width)
        tier = tiers(score, difference_errors(covariance))
        self.tiers.append(int(tier.max()))
        self.tiers_held.append(_are_true(tier, truth))

    def extend(self, other: "RankErrors") -> None:
        for name, values in vars(other).items():
            getattr(self, name).extend(values)

    @property
    def width_ratio(self) -> float:
        return sum(self.width) / sum(self.plain_width)


def rank_errors(design: RankDesign, *, repetitions: int, seed: int) -> RankErrors:
    rng, found = np.random.default_rng(seed), RankErrors()
    for _ in range(repetitions):
        theta = design.strengths(rng, design.models)
        ballots = arena(rng, theta, design.votes, pairs=design.pairs, tie_share=design.tie_share)
        board = fit_board(*ballots.counts(design.models))
        members = np.flatnonzero(board.established)
        if len(members) > 1:
            found.add(board.score[members], board.covariance[np.ix_(members, members)], theta[members])
    return found


def _are_true(tier: Indices, theta: Floats) -> bool:
    return all(theta[tier == number].min() > theta[tier == number + 1].max() for number in range(1, tier.max()))


def _compare(above: Flags, theta: Floats, held: list[bool], width: list[float]) -> None:
    best, worst = 1 + above.sum(axis=0), len(theta) - above.sum(axis=1)
    true = 1 + (theta[:, None] < theta).sum(axis=1)
    held.append(bool(((best <= true) & (true <= worst)).all()))
    width.append(float((worst - best).mean()))
