"""Routers of tests: strengths by model, independent of the prompt unless a label has strengths of its own."""

from collections.abc import Sequence

import numpy as np
import pytest

from accounts.models import Team
from models_registry.models import LanguageModel
from routing.deciding import learned_choice
from routing.deciding.router_cache import HeldRouter
from routing.learning.choosing import Choice, Options
from routing.learning.features import CELLS
from routing.learning.router import DIALS, Router, Scores
from routing.models import RouterSnapshot


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
    patch.setattr(learned_choice, "held_router", lambda team_id: held)
    return router


def publish(
    slot: str,
    models: list[LanguageModel],
    strengths: list[list[float]],
    state: str = "published",
    team: Team | None = None,
) -> bytes:
    """Publish a router; strengths: in general, and beside it for coding, by model."""
    n_grams = np.zeros((CELLS, len(models) + 1), np.float32)
    router = Router(
        models=tuple(model.pk for model in models), labels=("coding",), votes=900, tie_factor=1.2,
        strengths=np.array([*strengths, [0.0, 0.0]]), covariance=np.tile(np.eye(2) * 1e-4, (len(models) + 1, 1, 1)),
        features=n_grams, feature_variances=n_grams, prices=tuple(20.0 * (1 - dial) for dial in DIALS),
    )  # fmt: skip
    parameters = router.to_bytes()
    RouterSnapshot.objects.create(slot=slot, team=team, state=state, parameters=parameters, votes=900)
    return parameters
