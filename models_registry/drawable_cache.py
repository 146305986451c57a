from typing import NamedTuple

from common.cache import TTLCached
from models_registry.models import Breaker, Budget, LanguageModel, Price, Provider
from models_registry.models.availability import Availability
from models_registry.models.ledger import PaidCallsHalt


class Roster(NamedTuple):
    """Configured models in three lists, each a subset of the one before.

    Only `choosable` may be shown to people or decide anything they see: calls of a blind battle spend money and open
    breakers, so the other lists would reveal its models (docs/adr/0029).
    """

    choosable: list[LanguageModel]  # as configured by administrators
    payable: list[LanguageModel]  # those with money left in today's budgets
    drawable: list[LanguageModel]  # those whose breakers are closed and whose servers answer


def _load_roster() -> Roster:
    models = LanguageModel.objects.configured()
    availability = Availability(models)
    availability.lower_trial_weights(models)
    choosable = [model for model in models if not availability.is_halted(model)]
    payable = [model for model in choosable if not availability.budget_reason(model)]
    return Roster(choosable, payable, [model for model in payable if not availability.health_reason(model)])


# Uncached, a hundred concurrent battles would query all models, prices and breakers a hundred times. A load costs
# more than a whole request of the gateway.
# The lists and models are shared by threads: treat them as read-only.
cached_roster = TTLCached(
    _load_roster,
    ttl_s=1,
    invalidated_by=(LanguageModel, Provider, Price, Breaker, Budget, PaidCallsHalt),
    refreshes_early=True,
)
