"""Who meets whom now: the registry's drawable models, weighed by the configured rule."""

from random import Random

from django.conf import settings
from django.utils.module_loading import import_string

from battles.errors import TooFewModels
from battles.pairing import Candidate, Pair, PairWeights, draw_pair
from models_registry.models import LanguageModel


def _candidates() -> list[Candidate]:
    return [Candidate(model.pk, model.weight) for model in LanguageModel.objects.drawable()]


def _pair_weights() -> PairWeights:
    rule: PairWeights = import_string(settings.ARENA_PAIR_WEIGHTS)
    return rule


def draw(random: Random) -> Pair:
    """A pair for a new blind battle. Raises TooFewModels."""
    pair = draw_pair(_candidates(), _pair_weights(), random)
    if pair is None:
        raise TooFewModels(retry_after=30)
    return pair


def redraw(*, staying: int, leaving: int, random: Random) -> Pair | None:
    """A new opponent (`right`) for the model that stays (`left`); None when nobody else is drawable."""
    candidates = [candidate for candidate in _candidates() if candidate.id != leaving]
    if staying not in [candidate.id for candidate in candidates]:
        return None
    return draw_pair(candidates, _pair_weights(), random, staying=staying)
