"""A made-up arena with known strengths, kinds of prompts and prices."""

from dataclasses import replace

import numpy as np

from routing.learning.choosing import Choice, Option, choose, dial_table, win_chances
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


class SyntheticArena:
    """strengths: shape (models, KINDS); prices: US dollars of an answer, from 1 to 100 cents."""

    def __init__(self, *, models: int = 12, seed: int = 0, spread: float = 1.0) -> None:
        self.random = np.random.default_rng(seed)
        general = self.random.normal(0.8, 0.25, models) * spread
        self.strengths = general[:, None] + self.random.normal(0, 0.45, (models, len(KINDS))) * spread
        # The strongest model is the dearest; other prices say nothing.
        prices = self.random.permutation(np.geomspace(0.01, 1, models))
        dearest, strongest = int(prices.argmax()), int(self.strengths.mean(axis=1).argmax())
        prices[[dearest, strongest]] = prices[[strongest, dearest]]
        self.prices = prices

    def text(self, kind: int, words: int = 8) -> str:
        known = WORDS[KINDS[kind]].split()
        return " ".join(self.random.choice(known, words))

    def votes(self, size: int, *, words: int = 8) -> TrainingVotes:
        models = len(self.prices)
        kinds = self.random.integers(0, len(KINDS), size)
        left = self.random.integers(0, models, size)
        right = (left + self.random.integers(1, models, size)) % models
        chances = probabilities(self.strengths[left, kinds], self.strengths[right, kinds], TIE_FACTOR)
        outcome = (self.random.random(size) > np.cumsum(chances, axis=0)[:3]).sum(axis=0)
        names, labels = label_matrix([[KINDS[kind]] for kind in kinds])
        features = feature_matrix([[self.text(kind, words)] for kind in kinds])
        each = np.arange(size)
        return TrainingVotes(tuple(range(models)), left, right, outcome, each, each, names, labels, features)

    def trained(self, size: int) -> Trained:
        return train(self.votes(size))

    def true_chances(self, kind: int) -> Floats:
        return win_chances(self.strengths[:, kind], np.ones(len(self.prices)), TIE_FACTOR)

    def priced(self, router: Router, *, prompts: int = 300) -> Router:
        kinds = self.random.integers(0, len(KINDS), prompts)
        theta = [router.scores(router.models, [KINDS[kind]], [self.text(kind)]).theta for kind in kinds]
        chances = win_chances(np.array(theta), np.ones(len(self.prices)), router.tie_factor)
        return replace(router, prices=dial_table(chances, np.tile(self.prices, (prompts, 1))))

    def choices(self, router: Router, *, dial: float, prompts: int, best: int | None) -> tuple[Indices, list[Choice]]:
        kinds = self.random.integers(0, len(KINDS), prompts)
        options = [Option(model, 1.0, float(self.prices[model])) for model in router.models]
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
