"""Counters of prompts to models that people chose."""

from collections.abc import Iterable

from common.cache import TTLCached
from common.db.execution import rows_if_migrated
from common.valkey import limits
from models_registry.models import LanguageModel, ModelLimit


def _load() -> dict[str, str]:
    """Return rates by family: a new version keeps its rate."""
    return {row.model.family: row.rate for row in rows_if_migrated(ModelLimit.objects.select_related("model"))}


in_force = TTLCached(_load, ttl_s=5, invalidated_by=(ModelLimit,))


def counters(chosen: Iterable[LanguageModel]) -> list[limits.Counter]:
    rates = in_force()
    return [
        limits.Counter(limits.MODEL, item, "model", limits.Key(f"model:{model.family}"), subject=model.name)
        for model in chosen
        for item in limits.parse_rate(rates.get(model.family, "off"))
    ]
