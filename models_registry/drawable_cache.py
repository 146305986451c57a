"""Models that battles may begin with, from a cache of one second."""

from typing import NamedTuple

from common.cache import TTLCached
from models_registry.models import Breaker, LanguageModel, Price, Provider
from models_registry.models.availability import Obstacles
from models_registry.models.ledger import PaidCallsHalt


class Roster(NamedTuple):
    """Models that are set up, in three lists, each a part of the one before.

    Only `choosable` may be shown to people or named in a refusal: the calls of a blind battle spend money and open
    breakers, so the other lists would reveal its models (docs/adr/0029).
    """

    choosable: list[LanguageModel]  # as administrators set them up
    payable: list[LanguageModel]  # those with money left in today's budgets
    drawable: list[LanguageModel]  # those whose breakers are closed


def _look_up() -> Roster:
    models = LanguageModel.objects.set_up()
    obstacles = Obstacles(models)
    choosable = [model for model in models if not obstacles.is_halted(model)]
    payable = [model for model in choosable if not obstacles.of_money(model)]
    return Roster(choosable, payable, [model for model in payable if not obstacles.of_health(model)])


# A hundred battles that begin at once would otherwise read all models, prices and breakers a hundred times.
looked_up = TTLCached(_look_up, ttl_s=1, invalidated_by=(LanguageModel, Provider, Price, Breaker, PaidCallsHalt))


def read() -> Roster:
    """Return the roster, at most a second old; changes by this process show at once.

    Its lists and models are shared by the process's threads: treat them as read-only.
    """
    return looked_up()
