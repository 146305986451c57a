"""Draw models by the configured pair weights."""

from collections.abc import Callable, Iterable
from random import Random

from django.conf import settings
from django.utils.module_loading import import_string

from battles.errors import TooFewModels
from battles.prompting.pairing import Candidate, Pair, PairWeights, draw_pair
from models_registry.models import LanguageModel

RETRY_AFTER_S = 30


def _candidates(models: Iterable[LanguageModel]) -> list[Candidate]:
    return [Candidate(model.pk, model.weight) for model in models]


def _pair_weights() -> PairWeights:
    function: PairWeights = import_string(settings.ARENA_PAIR_WEIGHTS)
    return function


def draw(models: Iterable[LanguageModel], random: Random) -> Pair:
    """Draw a pair of `models` on random sides. Raises TooFewModels."""
    return _require_pair(draw_pair(_candidates(models), _pair_weights(), random))


def draw_partner(staying: LanguageModel, others: Iterable[LanguageModel], random: Random) -> Pair:
    """Draw an opponent (`right`) for the model that stays (`left`). Raises TooFewModels."""
    return _require_pair(draw_pair(_candidates([staying, *others]), _pair_weights(), random, staying=staying.pk))


def redraw(
    *, staying: LanguageModel, leaving: int, random: Random, is_eligible: Callable[[LanguageModel], bool]
) -> Pair | None:
    """Draw a new opponent (`right`) for the model that stays (`left`); None if no other model is drawable."""
    others = [model for model in LanguageModel.objects.drawable() if model.pk not in (staying.pk, leaving)]
    try:
        return draw_partner(staying, filter(is_eligible, others), random)
    except TooFewModels:
        return None


def _require_pair(pair: Pair | None) -> Pair:
    if pair is None:
        raise TooFewModels(retry_after=RETRY_AFTER_S)
    return pair
