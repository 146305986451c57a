"""Routers of tests: strengths by model, independent of the prompt unless a label has strengths of its own."""

from collections.abc import Sequence

import numpy as np
import pytest

from models_registry.models import LanguageModel
from routing.deciding import learned_choice
from routing.deciding.router_cache import HeldRouter
from routing.learning.choosing import Choice, Options
from routing.learning.router import Scores


class FixedRouter:
    """by_label: strengths of prompts with a label. prices: λ at dial 0; 0 at dial 1."""

    tie_factor = 1.2

    def __init__(
        self,
        strengths: dict[int, float],
        *,
        sd: float = 0.1,
        price: float = 0.0,
        by_label: dict[str, dict] | None = None,
    ) -> None:
        self.strengths, self.sd, self._price, self.by_label = strengths, sd, price, by_label or {}

    def price(self, dial: float) -> float:
        return self._price * (1 - dial)

    def scores(self, models: Sequence[int], labels: Sequence[str], texts: Sequence[str]) -> Scores:
        strengths = dict(self.strengths)
        for label in labels:
            strengths |= self.by_label.get(label, {})
        return Scores(np.array([strengths[pk] for pk in models]), np.full(len(models), self.sd))


def choose(options: Options, scores: Scores, *, price: float, best: int | None, **_: object) -> Choice:
    """Choose by strength minus price; models within one standard deviation disagree."""
    chances = 1 / (1 + np.exp(-scores.theta))
    utilities = chances - price * options.costs
    order = np.argsort(-utilities)
    first, second = int(order[0]), int(order[1])
    is_close = abs(scores.theta[first] - scores.theta[second]) < scores.sd[first]
    pair = (options.models[first], options.models[second]) if is_close else None
    return Choice(
        options.models[first], options.models[second], 0.55 if is_close else 0.95, float(chances[first]),
        float(chances[first]), pair, 0.5 if pair else 1.0, chances, chances, utilities,
    )  # fmt: skip


def hold(
    patch: pytest.MonkeyPatch,
    strengths: dict[LanguageModel, float],
    *,
    ranking: Sequence[LanguageModel] = (),
    **how: object,
) -> FixedRouter:
    """Let decisions use a router with these strengths."""
    router = FixedRouter({model.pk: strength for model, strength in strengths.items()}, **how)
    held = HeldRouter(7, router, 1, tuple(model.pk for model in ranking))
    patch.setattr(learned_choice, "choose", choose)
    patch.setattr(learned_choice, "held_router", lambda: held)
    return router
