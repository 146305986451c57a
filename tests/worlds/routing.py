"""A made-up arena with known strengths, kinds of prompts and prices."""

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple, TypedDict, Unpack

import numpy as np

from routing.learning.choosing import Choice, Options, choose, dial_table, win_chances
from routing.learning.grounded import Floats, Indices, probabilities
from routing.learning.heads import Trained, train
from routing.learning.router import Router
from routing.learning.votes import TrainingVotes, feature_matrix, label_matrix

KINDS = ("code", "creative_writing", "math")
WORDS = {
    "code": "write python function class list loop bug error import return test string file",
    "creative_writing": "poem story about love sea moon character chapter dragon song verse night dream",
    "math": "prove sum integral number equation solve prime matrix triangle probability value root series",
}
TIE_FACTOR = 1.6


class Design(TypedDict, total=False):
    models: int
    spread: float
    kind_spread: float


class Voters(NamedTuple):
    """taste: standard deviation of each voter's deviations. The k-th voter has a share of votes like k ** -unevenness.

    Each voter asks some kinds of prompts more often than others.
    """

    number: int
    taste: float
    unevenness: float


class Voting(TypedDict, total=False):
    """of_voter: votes of each voter, without `voters`."""

    of_voter: int
    voters: Voters


class SyntheticArena:
    """strengths: shape (models, KINDS); prices: US dollars of an answer, from 1 to 100 cents.

    spread, kind_spread: of strengths in general, and of a model's strengths between the kinds.
    """

    def __init__(self, *, models: int = 12, seed: int = 0, spread: float = 1.0, kind_spread: float = 0.45) -> None:
        self.random = np.random.default_rng(seed)
        general = self.random.normal(0.8, 0.25, models) * spread
        self.strengths = general[:, None] + self.random.normal(0, kind_spread, (models, len(KINDS))) * spread
        # The strongest model is the dearest; other prices say nothing.
        prices = self.random.permutation(np.geomspace(0.01, 1, models))
        dearest, strongest = int(prices.argmax()), int(self.strengths.mean(axis=1).argmax())
        prices[[dearest, strongest]] = prices[[strongest, dearest]]
        self.prices = prices

    def text(self, kind: int, words: int = 8) -> str:
        known = WORDS[KINDS[kind]].split()
        return " ".join(self.random.choice(known, words))

    def votes(self, size: int, *, words: int = 8, of_voter: int = 1, voters: Voters | None = None) -> TrainingVotes:
        models, each = len(self.prices), np.arange(size)
        voter, kinds = each // of_voter, self.random.integers(0, len(KINDS), size)
        tastes = np.zeros((size, models))
        if voters is not None:
            share = np.arange(1, voters.number + 1) ** -voters.unevenness
            voter = self.random.choice(voters.number, size, p=share / share.sum())
            asked = self.random.dirichlet(np.ones(len(KINDS)), voters.number).cumsum(axis=1)
            kinds = (self.random.random((size, 1)) > asked[voter, :-1]).sum(axis=1)
            tastes = self.random.normal(0, voters.taste, (voters.number, models))
        left = self.random.integers(0, models, size)
        right = (left + self.random.integers(1, models, size)) % models
        theta = [self.strengths[side, kinds] + tastes[voter, side] for side in (left, right)]
        chances = probabilities(*theta, TIE_FACTOR)
        outcome = (self.random.random(size) > np.cumsum(chances, axis=0)[:3]).sum(axis=0)
        names, labels = label_matrix([[KINDS[kind]] for kind in kinds])
        features = feature_matrix([[self.text(kind, words)] for kind in kinds])
        return TrainingVotes(tuple(range(models)), left, right, outcome, voter, each, names, labels, features)

    def trained(self, size: int, **voting: Unpack[Voting]) -> Trained:
        return train(self.votes(size, **voting))

    def true_chances(self, kind: int) -> Floats:
        return win_chances(self.strengths[:, kind], np.ones(len(self.prices)), TIE_FACTOR)

    def gains(self, router: Router, *, prompts: int = 400) -> tuple[float, float]:
        """Return the chance of winning at dial 1 less that of the model that seems best, and the possible gain."""
        truth = np.array([self.true_chances(kind) for kind in range(len(KINDS))])
        best = int(router.strengths[:-1, 0].argmax())
        kinds, choices = self.choices(router, dial=1, prompts=prompts, best=best)
        always_best = truth[kinds, best]
        gain = truth[kinds, [choice.model for choice in choices]] - always_best
        return float(gain.mean()), float((truth[kinds].max(axis=1) - always_best).mean())

    def shares_of_best(self, router: Router, *, dial: float) -> tuple[float, float]:
        """Return the mean price and chance of winning at a dial, as shares of the model's that seems best."""
        best = int(router.strengths[:-1, 0].argmax())
        kinds, choices = self.choices(router, dial=dial, prompts=400, best=best)
        truth = np.array([self.true_chances(kind) for kind in range(len(KINDS))])
        models = np.array([choice.model for choice in choices])
        cost = self.prices[models].mean() / self.prices[best]
        return float(cost), float(truth[kinds, models].mean() / truth[kinds, best].mean())

    def priced(self, router: Router, *, prompts: int = 300) -> Router:
        kinds = self.random.integers(0, len(KINDS), prompts)
        theta = [router.scores(router.models, [KINDS[kind]], [self.text(kind)]).theta for kind in kinds]
        chances = win_chances(np.array(theta), np.ones(len(self.prices)), router.tie_factor)
        return replace(router, prices=dial_table(chances, np.tile(self.prices, (prompts, 1))))

    def options(self, router: Router) -> Options:
        """Return all models, with equal weights."""
        return Options(router.models, np.ones(len(router.models)), self.prices[list(router.models)])

    def choices(self, router: Router, *, dial: float, prompts: int, best: int | None) -> tuple[Indices, list[Choice]]:
        kinds = self.random.integers(0, len(KINDS), prompts)
        options = self.options(router)
        return kinds, [
            choose(
                options,
                router.scores(router.models, [KINDS[kind]], [self.text(kind)]),
                price=router.price(dial),
                best=best,
                random=self.random,
                tie_factor=router.tie_factor,
            )
            for kind in kinds
        ]


def confidences(seeds: Iterable[int], *, prompts: int) -> tuple[Floats, Floats]:
    """Return the confidence of each choice, and 1 where it is stronger than the runner-up, in the arenas of seeds."""
    confidence, is_right = [], []
    for seed in seeds:
        arena = SyntheticArena(seed=seed)
        kinds, choices = arena.choices(arena.trained(1_500).router, dial=1, prompts=prompts, best=None)
        for kind, choice in zip(kinds, choices, strict=True):
            confidence.append(choice.confidence)
            is_right.append(arena.strengths[choice.model, kind] > arena.strengths[choice.runner_up, kind])
    return np.array(confidence), np.array(is_right, dtype=float)
