from collections import Counter
from collections.abc import Sequence

from battles.models import Call
from models_registry.models import LanguageModel, Provider


def acquire_slots(models: Sequence[LanguageModel]) -> list[bool]:
    """Return for each model whether a call may start now.

    Locks providers with a limit until COMMIT, when the started calls are rows that others count.
    """
    limited = {model.provider_id for model in models if model.calls_at_once or model.provider.calls_at_once}
    if not limited:
        return [True] * len(models)
    list(Provider.objects.select_for_update(no_key=True).filter(pk__in=limited).order_by("pk"))
    running = Call.objects.holding_slots().filter(model__provider__in=limited)
    in_use: Counter[tuple[str, int]] = Counter()
    for model_id, provider_id in running.values_list("model_id", "model__provider_id"):
        in_use.update([("model", model_id), ("provider", provider_id)])
    may_start = []
    for model in models:
        limits = {
            ("model", model.pk): model.calls_at_once,
            ("provider", model.provider_id): model.provider.calls_at_once,
        }
        may_start.append(all(limit is None or in_use[key] < limit for key, limit in limits.items()))
        if may_start[-1]:
            in_use.update(limits.keys())
    return may_start
