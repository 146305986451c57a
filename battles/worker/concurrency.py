"""How many calls a provider or a model takes at once: exact, because the running calls themselves are counted."""

from collections import Counter
from collections.abc import Sequence

from battles.models import Call
from models_registry.models import LanguageModel, Provider


def take_slots(models: Sequence[LanguageModel]) -> list[bool]:
    """Whether a call to each of these models may start now. Their providers selected; inside a transaction.

    Providers with a limit stay locked until COMMIT, when the calls that may start are running rows. A call whose
    worker is gone stops counting when its turn's lease runs out.
    """
    limited = {model.provider_id for model in models if model.calls_at_once or model.provider.calls_at_once}
    if not limited:
        return [True] * len(models)
    list(Provider.objects.select_for_update(no_key=True).filter(pk__in=limited).order_by("pk"))
    running = Call.objects.holding_slots().filter(model__provider__in=limited)
    of_model: Counter[int] = Counter()
    of_provider: Counter[int] = Counter()
    for model_id, provider_id in running.values_list("model_id", "model__provider_id"):
        of_model[model_id] += 1
        of_provider[provider_id] += 1
    return [_take(model, of_model, of_provider) for model in models]


def _take(model: LanguageModel, of_model: Counter[int], of_provider: Counter[int]) -> bool:
    is_full = _is_full(of_model[model.pk], model.calls_at_once)
    if is_full or _is_full(of_provider[model.provider_id], model.provider.calls_at_once):
        return False
    of_model[model.pk] += 1
    of_provider[model.provider_id] += 1
    return True


def _is_full(running: int, limit: int | None) -> bool:
    return limit is not None and running >= limit
