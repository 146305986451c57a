"""Reasons why models are not drawn now, for any number of models in five queries at most, beside cached budgets."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.utils.translation import gettext

from models_registry.breaker_rule import TRIAL_SHARE
from models_registry.models.breakers import Breaker
from models_registry.models.budgets import budget_of
from models_registry.models.ledger import SITE, SpendingDay, are_paid_calls_halted, provider_account

if TYPE_CHECKING:
    from models_registry.models import LanguageModel


class Availability:
    """models: with provider selected and prices prefetched."""

    def __init__(self, models: "Sequence[LanguageModel]") -> None:
        breakers = list(Breaker.objects.open())
        self._breakers_by_model = {breaker.model_id: breaker for breaker in breakers if breaker.model_id}
        self._breakers_by_provider = {breaker.provider_id: breaker for breaker in breakers if breaker.provider_id}
        paid = [model for model in models if model.is_paid]
        self._paid_ids = {model.pk for model in paid}
        self._is_halted = bool(paid) and are_paid_calls_halted()
        budgets = {provider_account(model.provider_id): model.provider.daily_budget for model in paid}
        budgets[SITE] = budget_of(SITE)
        capped = {account: budget for account, budget in budgets.items() if budget is not None}
        used = SpendingDay.objects.used_today(capped) if paid and capped else {}
        self._exhausted = {account for account, budget in capped.items() if used.get(account, 0) >= budget}

    def unavailable_reason(self, model: "LanguageModel") -> str:
        """Return a sentence for administrators; "" if the model can be drawn."""
        if model.status != model.Status.ACTIVE:
            return {
                model.Status.DRAFT: gettext("It is a draft: activate it."),
                model.Status.PAUSED: gettext("It is paused."),
                model.Status.RETIRED: gettext("It is retired."),
            }[model.Status(model.status)]
        if model.weight <= 0:
            return gettext("Its sampling weight is 0.")
        return self.health_reason(model) or self.budget_reason(model)

    def health_reason(self, model: "LanguageModel") -> str:
        """Return a sentence, or "" if the provider can be called and no breaker is open."""
        if reason := model.provider.unavailable_reason:
            return reason
        breaker = self._breakers_by_model.get(model.pk) or self._breakers_by_provider.get(model.provider_id)
        return "" if breaker is None or breaker.is_on_trial else breaker.unavailable_reason

    def is_on_trial(self, model: "LanguageModel") -> bool:
        breaker = self._breakers_by_model.get(model.pk)
        return breaker is not None and breaker.is_on_trial

    def lower_trial_weights(self, models: "Sequence[LanguageModel]") -> None:
        """Give models on trial the least weight, unsaved."""
        lowest = min((model.weight for model in models), default=0.0)
        for model in models:
            if self.is_on_trial(model):
                model.weight = lowest * TRIAL_SHARE

    def is_halted(self, model: "LanguageModel") -> bool:
        return self._is_halted and model.pk in self._paid_ids

    def budget_reason(self, model: "LanguageModel") -> str:
        """Return a sentence, or "" if the model can be paid for."""
        if self.is_halted(model):
            return gettext("Calls to paid models are halted.")
        if model.pk not in self._paid_ids:
            return ""
        if provider_account(model.provider_id) in self._exhausted:
            return gettext("Its provider's budget for today is used up.")
        is_sites = model.team_id is None and SITE in self._exhausted
        return gettext("The site's budget for today is used up.") if is_sites else ""
