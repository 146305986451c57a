"""Why models are not drawn at this moment: asked once for any number of models, in five queries at most."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils.translation import gettext

from models_registry.models.breakers import Breaker
from models_registry.models.ledger import SITE, SpendingDay, are_paid_calls_halted, provider_account

if TYPE_CHECKING:
    from models_registry.models import LanguageModel


class Obstacles:
    """Knows what stands in the way of `models` (their provider selected, their prices prefetched)."""

    def __init__(self, models: "Sequence[LanguageModel]") -> None:
        breakers = list(Breaker.objects.open())
        self._of_models = {breaker.model_id: breaker for breaker in breakers if breaker.model_id}
        self._of_providers = {breaker.provider_id: breaker for breaker in breakers if breaker.provider_id}
        paid = [model for model in models if model.is_paid]
        self._paid = {model.pk for model in paid}
        self._is_halted = bool(paid) and are_paid_calls_halted()
        budgets = {provider_account(model.provider_id): model.provider.daily_budget for model in paid}
        budgets[SITE] = settings.ARENA_BUDGETS["site"]
        capped = {account: budget for account, budget in budgets.items() if budget is not None}
        used = SpendingDay.objects.used_today(capped) if paid and capped else {}
        self._used_up = {account for account, budget in capped.items() if used.get(account, 0) >= budget}

    def of(self, model: "LanguageModel") -> str:
        """One sentence for administrators; "" when the model may be drawn."""
        if model.status != model.Status.ACTIVE:
            return {
                model.Status.DRAFT: gettext("It is a draft: activate it."),
                model.Status.PAUSED: gettext("It is paused."),
                model.Status.RETIRED: gettext("It is retired."),
            }[model.Status(model.status)]
        if model.weight <= 0:
            return gettext("Its sampling weight is 0.")
        return model.provider.obstacle or self.of_health(model) or self.of_money(model)

    def of_health(self, model: "LanguageModel") -> str:
        """Return why its breaker, or its provider's, keeps it out; "" when both are closed."""
        breaker = self._of_models.get(model.pk) or self._of_providers.get(model.provider_id)
        return breaker.obstacle if breaker else ""

    def is_halted(self, model: "LanguageModel") -> bool:
        """Return whether calls to paid models are halted, and the model is one."""
        return self._is_halted and model.pk in self._paid

    def of_money(self, model: "LanguageModel") -> str:
        """Return that its calls are halted, or which budget is used up; "" when it may be paid for."""
        if self.is_halted(model):
            return gettext("Calls to paid models are halted.")
        if model.pk not in self._paid:
            return ""
        if provider_account(model.provider_id) in self._used_up:
            return gettext("Its provider's budget for today is used up.")
        return gettext("The site's budget for today is used up.") if SITE in self._used_up else ""
