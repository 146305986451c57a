"""Draw models by the configured pair weights."""

from collections.abc import Callable, Iterable
from random import Random

from django.conf import settings
from django.utils.module_loading import import_string

from battles.prompting.pairing import Candidate, Pair, PairWeights, draw_pair
from models_registry.models import LanguageModel


def draw(models: Iterable[LanguageModel], random: Random, *, staying: LanguageModel | None = None) -> Pair | None:
    """Draw a pair on random sides, or an opponent (`right`) for a model that stays (`left`); None from too few."""
    drawn_from = models if staying is None else [staying, *models]
    candidates = [Candidate(model.pk, model.weight) for model in drawn_from]
    pair_weights: PairWeights = import_string(settings.ARENA_PAIR_WEIGHTS)
    return draw_pair(candidates, pair_weights, random, staying=None if staying is None else staying.pk)


def redraw(
    *, staying: LanguageModel, leaving: int, random: Random, is_eligible: Callable[[LanguageModel], bool]
) -> Pair | None:
    """Draw a new opponent (`right`) for the model that stays (`left`); None if no other model is drawable."""
    others = [model for model in LanguageModel.objects.drawable() if model.pk not in (staying.pk, leaving)]
    return draw(filter(is_eligible, others), random, staying=staying)
