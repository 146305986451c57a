"""Arenas whose truth is known: votes drawn from given strengths, by voters with or without a taste of their own."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from leaderboard.rating.bradley_terry import Floats
from leaderboard.rating.style_control import scaling_of, style_features

Ints = NDArray[np.int64]
LEFT, RIGHT, TIE = 0, 1, 2
TIE_SHARE = 0.3


@dataclass(frozen=True)
class Ballots:
    """Votes in the order they were cast; every array has shape (votes,). outcome: LEFT, RIGHT or TIE."""

    left: Ints
    right: Ints
    outcome: Ints
    voter: Ints

    @property
    def share(self) -> Floats:
        """What the left side took: 1, 0 or ½."""
        return np.array([1.0, 0.0, 0.5])[self.outcome]

    def counts(self, models: int) -> tuple[Floats, Floats]:
        """(wins, ties), shape (models, models) each."""
        by_outcome = np.bincount(
            (self.outcome * models + self.left) * models + self.right, minlength=3 * models * models
        ).reshape(3, models, models)
        wins, ties = by_outcome[LEFT] + by_outcome[RIGHT].T, by_outcome[TIE]
        return wins.astype(float), (ties + ties.T).astype(float)

    def followed_by(self, other: "Ballots") -> "Ballots":
        return Ballots(
            *(np.concatenate([getattr(self, name), getattr(other, name)]) for name in self.__dataclass_fields__)
        )

    def joined_by(self, other: "Ballots") -> "Ballots":
        """`other`'s voters are new people."""
        return self.followed_by(replace(other, voter=self.voter.max() + 1 + other.voter))


def strengths(rng: Generator, models: int, *, spread: float = 0.8) -> Floats:
    """θ, natural-log units, mean 0."""
    theta = rng.normal(0, spread, models)
    return theta - theta.mean()


def random_pairs(rng: Generator, models: int, votes: int) -> tuple[Ints, Ints]:
    """(left, right): every ordered pair alike."""
    left = rng.integers(models, size=votes)
    return left, (left + rng.integers(1, models, size=votes)) % models


def uneven_pairs(rng: Generator, models: int, votes: int) -> tuple[Ints, Ints]:
    """(left, right): some models meet thirty times as often as others, as where models come and go."""
    popularity = rng.permutation(np.geomspace(1, 30, models))
    left, right = rng.choice(models, size=(2, 2 * votes), p=popularity / popularity.sum())
    different = np.flatnonzero(left != right)
    while len(different) < votes:
        again = rng.choice(models, size=(2, votes), p=popularity / popularity.sum())
        left, right = np.append(left, again[0]), np.append(right, again[1])
        different = np.flatnonzero(left != right)
    return left[different[:votes]], right[different[:votes]]


def star_pairs(rng: Generator, models: int, votes: int) -> tuple[Ints, Ints]:
    """(left, right): everybody meets only model 0, on either side."""
    other, swapped = rng.integers(1, models, size=votes), rng.random(votes) < 0.5
    return np.where(swapped, other, 0), np.where(swapped, 0, other)


def newcomer_pairs(rng: Generator, *, newcomer: int, among: int, votes: int) -> tuple[Ints, Ints]:
    """(left, right): `newcomer` against random ones of the first `among` models, on either side."""
    other, swapped = rng.integers(among, size=votes), rng.random(votes) < 0.5
    return np.where(swapped, other, newcomer), np.where(swapped, newcomer, other)


def heavy_tailed_voters(rng: Generator, *, voters: int, votes: int) -> Ints:
    """Who cast each vote: a few cast many, most cast few (Pareto, exponent 1.2)."""
    zeal = rng.pareto(1.2, voters) + 1
    return rng.choice(voters, size=votes, p=zeal / zeal.sum())


def cast(
    rng: Generator,
    left: Ints,
    right: Ints,
    logit: Floats,
    *,
    tie_share: float = TIE_SHARE,
    voter: Ints | None = None,
) -> Ballots:
    """Outcomes with E[share of the left] = σ(logit) exactly; a tie takes from both sides alike.

    The chance of a tie is tie_share · 2 min(p, q): evenly matched pairs tie most. Without `voter`, everybody
    votes once.
    """
    p = 1 / (1 + np.exp(-logit))
    tied = tie_share * 2 * np.minimum(p, 1 - p)
    chance = rng.random(len(left))
    outcome = np.where(chance < p - tied / 2, LEFT, np.where(chance < p + tied / 2, TIE, RIGHT))
    return Ballots(left, right, outcome, np.arange(len(left)) if voter is None else voter)


def arena(rng: Generator, theta: Floats, votes: int, *, pairs=random_pairs, tie_share: float = TIE_SHARE) -> Ballots:
    """An arena whose voters all judge alike."""
    left, right = pairs(rng, len(theta), votes)
    return cast(rng, left, right, theta[left] - theta[right], tie_share=tie_share)


def arena_with_tastes(rng: Generator, theta: Floats, votes: int, *, voters: int, taste: float = 0.35) -> Ballots:
    """Each voter adds a taste N(0, taste²) of their own to each model's strength, and some vote a lot."""
    left, right = random_pairs(rng, len(theta), votes)
    voter = heavy_tailed_voters(rng, voters=voters, votes=votes)
    own = rng.normal(0, taste, (voters, len(theta)))
    logit = theta[left] - theta[right] + own[voter, left] - own[voter, right]
    return cast(rng, left, right, logit, voter=voter)


def crowd(rng: Generator, *, models: int, voters: int, each: int, taste: float = 0.0) -> tuple[Floats, Ballots]:
    """(θ, ballots grouped by voter) of people who vote equally often, with a taste N(0, taste²) for each model."""
    theta, own = strengths(rng, models), rng.normal(0, taste, (voters, models))
    left, right = random_pairs(rng, models, voters * each)
    voter = np.repeat(np.arange(voters), each)
    logit = theta[left] - theta[right] + own[voter, left] - own[voter, right]
    return theta, cast(rng, left, right, logit, voter=voter)


def servants(rng: Generator, *, target: int, models: int, voters: int, each: int) -> Ballots:
    """Voters who only ever meet `target`, against anybody and on either side, and always prefer it."""
    other = (target + rng.integers(1, models, size=voters * each)) % models
    on_the_left = rng.random(voters * each) < 0.5
    return Ballots(
        np.where(on_the_left, target, other),
        np.where(on_the_left, other, target),
        np.where(on_the_left, LEFT, RIGHT),
        np.repeat(np.arange(voters), each),
    )


def dressed_arena(rng: Generator, *, models: int, votes: int, effects: Floats) -> tuple[Floats, Ballots, Floats]:
    """(θ, ballots, features (votes, 4)) of voters who like dress: `effects`, in logit per standard deviation.

    Which models write long is chance.
    """
    theta, verbosity = strengths(rng, models), rng.normal(0, 0.3, models)
    left, right = random_pairs(rng, models, votes)
    features = style_features(*(style_counts(rng, side, verbosity=verbosity) for side in (left, right)))
    liked = features / scaling_of(features).sd @ effects
    return theta, cast(rng, left, right, theta[left] - theta[right] + liked), features


def style_counts(rng: Generator, models: Ints, *, verbosity: Floats) -> Ints:
    """(votes, 4) tokens, headings, bold runs and list items of one side's answers; verbose models write more."""
    tokens = rng.lognormal(5 + verbosity[models], 0.6)
    dressed = rng.random(len(models)) < 0.6
    dress = rng.poisson(np.outer(tokens / 400 * dressed, [1.0, 2.0, 3.0]))
    return np.column_stack([tokens.astype(int) + 1, dress])
