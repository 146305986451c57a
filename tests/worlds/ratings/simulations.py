"""Simulated votes from given strengths, by voters with or without own tastes."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from leaderboard.rating.bradley_terry import POINTS, Floats
from leaderboard.rating.style_control import StyleFit, fit_style, scaling_of, style_features

Ints = NDArray[np.int64]
LEFT, RIGHT, TIE = 0, 1, 2
TIE_SHARE = 0.3


@dataclass(frozen=True)
class Ballots:
    """Votes in order of casting; every array has shape (votes,). outcome: LEFT, RIGHT or TIE."""

    left: Ints
    right: Ints
    outcome: Ints
    voter: Ints

    @property
    def share(self) -> Floats:
        """Share of the left side: 1, 0 or ½."""
        return np.array([1.0, 0.0, 0.5])[self.outcome]

    def counts(self, models: int) -> tuple[Floats, Floats]:
        """Return (wins, ties), shape (models, models) each."""
        by_outcome = np.bincount(
            (self.outcome * models + self.left) * models + self.right, minlength=3 * models * models
        ).reshape(3, models, models)
        wins, ties = by_outcome[LEFT] + by_outcome[RIGHT].T, by_outcome[TIE]
        return wins.astype(float), (ties + ties.T).astype(float)

    def subset(self, votes: Ints) -> "Ballots":
        return Ballots(*(getattr(self, name)[votes] for name in self.__dataclass_fields__))

    def extended_by(self, other: "Ballots") -> "Ballots":
        return Ballots(
            *(np.concatenate([getattr(self, name), getattr(other, name)]) for name in self.__dataclass_fields__)
        )

    def joined_by_new_voters(self, other: "Ballots") -> "Ballots":
        """Return these votes and those of `other`, whose voters get new numbers."""
        return self.extended_by(replace(other, voter=self.voter.max() + 1 + other.voter))


def strengths(rng: Generator, models: int, *, spread: float = 0.8) -> Floats:
    """Return normal θ, natural-log units, mean 0, shape (models,)."""
    theta = rng.normal(0, spread, models)
    return theta - theta.mean()


def random_pairs(rng: Generator, models: int, votes: int) -> tuple[Ints, Ints]:
    """Return (left, right), uniform over ordered pairs."""
    left = rng.integers(models, size=votes)
    return left, (left + rng.integers(1, models, size=votes)) % models


def uneven_pairs(rng: Generator, models: int, votes: int) -> tuple[Ints, Ints]:
    """Return (left, right), where some models are drawn thirty times as often as others."""
    popularity = rng.permutation(np.geomspace(1, 30, models))
    left, right = rng.choice(models, size=(2, 2 * votes), p=popularity / popularity.sum())
    different = np.flatnonzero(left != right)
    while len(different) < votes:
        again = rng.choice(models, size=(2, votes), p=popularity / popularity.sum())
        left, right = np.append(left, again[0]), np.append(right, again[1])
        different = np.flatnonzero(left != right)
    return left[different[:votes]], right[different[:votes]]


def star_pairs(rng: Generator, models: int, votes: int) -> tuple[Ints, Ints]:
    """Return (left, right): each of the other models against model 0, on either side."""
    other, swapped = rng.integers(1, models, size=votes), rng.random(votes) < 0.5
    return np.where(swapped, other, 0), np.where(swapped, 0, other)


def newcomer_pairs(rng: Generator, *, newcomer: int, among: int, votes: int) -> tuple[Ints, Ints]:
    """Return (left, right): `newcomer` against random ones of the first `among` models."""
    other, swapped = rng.integers(among, size=votes), rng.random(votes) < 0.5
    return np.where(swapped, other, newcomer), np.where(swapped, newcomer, other)


def heavy_tailed_voters(rng: Generator, *, voters: int, votes: int) -> Ints:
    """Return the voter of each vote; votes per voter follow a Pareto distribution with exponent 1.2."""
    rate = rng.pareto(1.2, voters) + 1
    return rng.choice(voters, size=votes, p=rate / rate.sum())


def cast(
    rng: Generator,
    left: Ints,
    right: Ints,
    logit: Floats,
    *,
    tie_share: float | Floats = TIE_SHARE,
    voter: Ints | None = None,
) -> Ballots:
    """Return votes with E[share of the left] = σ(logit) and P(tie) = tie_share · 2 min(p, q).

    Without `voter`, each vote has its own voter.
    """
    p = 1 / (1 + np.exp(-logit))
    tied = tie_share * 2 * np.minimum(p, 1 - p)
    chance = rng.random(len(left))
    outcome = np.where(chance < p - tied / 2, LEFT, np.where(chance < p + tied / 2, TIE, RIGHT))
    return Ballots(left, right, outcome, np.arange(len(left)) if voter is None else voter)


def arena(rng: Generator, theta: Floats, votes: int, *, pairs=random_pairs, tie_share: float = TIE_SHARE) -> Ballots:
    """Return votes of voters without own tastes."""
    left, right = pairs(rng, len(theta), votes)
    return cast(rng, left, right, theta[left] - theta[right], tie_share=tie_share)


def arena_with_tastes(rng: Generator, theta: Floats, votes: int, *, voters: int, taste: float = 0.35) -> Ballots:
    """Return votes of heavy-tailed voters who add a taste N(0, taste²) to each model's strength."""
    left, right = random_pairs(rng, len(theta), votes)
    voter = heavy_tailed_voters(rng, voters=voters, votes=votes)
    own = rng.normal(0, taste, (voters, len(theta)))
    logit = theta[left] - theta[right] + own[voter, left] - own[voter, right]
    return cast(rng, left, right, logit, voter=voter)


def crowd(rng: Generator, *, models: int, voters: int, each: int, taste: float = 0.0) -> tuple[Floats, Ballots]:
    """Return (θ, ballots grouped by voter) of voters with `each` votes and a taste N(0, taste²) per model."""
    theta, own = strengths(rng, models), rng.normal(0, taste, (voters, models))
    left, right = random_pairs(rng, models, voters * each)
    voter = np.repeat(np.arange(voters), each)
    logit = theta[left] - theta[right] + own[voter, left] - own[voter, right]
    return theta, cast(rng, left, right, logit, voter=voter)


def partisans(rng: Generator, *, target: int, models: int, voters: int, each: int) -> Ballots:
    """Return votes for `target` against random models, on either side."""
    other = (target + rng.integers(1, models, size=voters * each)) % models
    on_the_left = rng.random(voters * each) < 0.5
    return Ballots(
        np.where(on_the_left, target, other),
        np.where(on_the_left, other, target),
        np.where(on_the_left, LEFT, RIGHT),
        np.repeat(np.arange(voters), each),
    )


def styled_arena(rng: Generator, *, models: int, votes: int, effects: Floats) -> tuple[Floats, Ballots, Floats]:
    """Return (θ, ballots, features of shape (votes, 4)). effects: of the style, in logit per standard deviation."""
    theta, verbosity = strengths(rng, models), rng.normal(0, 0.3, models)
    left, right = random_pairs(rng, models, votes)
    features = style_features(*(style_counts(rng, side, verbosity=verbosity) for side in (left, right)))
    style_logit = features / scaling_of(features).sd @ effects
    return theta, cast(rng, left, right, theta[left] - theta[right] + style_logit), features


def style_counts(rng: Generator, models: Ints, *, verbosity: Floats) -> Ints:
    """Return tokens, headings, bold runs and list items, shape (votes, 4)."""
    tokens = rng.lognormal(5 + verbosity[models], 0.6)
    is_formatted = rng.random(len(models)) < 0.6
    formatting = rng.poisson(np.outer(tokens / 400 * is_formatted, [1.0, 2.0, 3.0]))
    return np.column_stack([tokens.astype(int) + 1, formatting])


@dataclass(frozen=True)
class StyledArena:
    """Votes with styles. expected: the left's share over all voters."""

    theta: Floats
    ballots: Ballots
    features: Floats
    expected: Floats

    def fit(self, **options: Any) -> StyleFit:
        return self._fit(self.ballots.share, **{"voter": self.ballots.voter, **options})

    def limit(self, **options: Any) -> StyleFit:
        return self._fit(self.expected, **options)

    def logits(self, fit: StyleFit) -> Floats:
        theta = fit.score / POINTS
        style = self.features / scaling_of(self.features).sd @ fit.coefficients
        return theta[self.ballots.left] - theta[self.ballots.right] + style

    def _fit(self, share: Floats, **options: Any) -> StyleFit:
        models = np.ones(self.ballots.left.max() + 1, dtype=bool)
        options = {"established": models, "scaling": scaling_of(self.features), **options}
        return fit_style(self.ballots.left, self.ballots.right, share, self.features, **options)


@dataclass(frozen=True)
class StyleTastes:
    """Arena of voters with a taste N(0, taste²) for length, in logit."""

    models: int
    votes: int
    voters: int
    taste: float
    spread: float = 0.0  # sd of the log of a voter's share of the votes
    side: float = 0.0  # advantage of the left
    on_the_left: float = 0.5  # how often a model of the first half is, against one of the second
    effects: tuple[float, ...] = (0.25, -0.1, 0.05, 0.0)

    def sample(self, rng: Generator) -> StyledArena:
        theta, verbosity = strengths(rng, self.models), rng.normal(0, 0.3, self.models)
        left, right = random_pairs(rng, self.models, self.votes)
        first, second = np.minimum(left, right), np.maximum(left, right)
        is_across = (first < self.models // 2) & (second >= self.models // 2)
        is_first_left = rng.random(self.votes) < np.where(is_across, self.on_the_left, 0.5)
        left, right = np.where(is_first_left, first, second), np.where(is_first_left, second, first)
        features = style_features(*(style_counts(rng, side, verbosity=verbosity) for side in (left, right)))
        x = features / scaling_of(features).sd
        rate = rng.lognormal(0, self.spread, self.voters)
        voter = rng.choice(self.voters, size=self.votes, p=rate / rate.sum())
        logit = theta[left] - theta[right] + x @ np.array(self.effects) + self.side
        own = rng.normal(0, self.taste, self.voters)
        node, weight = np.polynomial.hermite_e.hermegauss(15)
        shares = 1 / (1 + np.exp(-logit[:, None] - self.taste * x[:, :1] * node))
        ballots = cast(rng, left, right, logit + own[voter] * x[:, 0], voter=voter)
        return StyledArena(theta, ballots, features, shares @ weight / weight.sum())
