"""Counters of prompts to models that people chose."""

from collections.abc import Iterable

from common.cache import TTLCached
from common.db.execution import rows_if_migrated
from common.valkey import limits
from models_registry.models import LanguageModel, ModelLimit


def _load() -> dict[str, str]:
    """Return rates by family: a new version keeps its rate."""
    return {_family_of(row.model): row.rate for row in rows_if_migrated(ModelLimit.objects.select_related("model"))}


in_force = TTLCached(_load, ttl_s=5, invalidated_by=(ModelLimit,))


def _family_of(model: LanguageModel) -> str:
    return model.family if model.team_id is None else f"{model.team_id}~{model.family}"


def counters(chosen: Iterable[LanguageModel]) -> list[limits.Counter]:
    rates = in_force()
    return [
        limits.Counter(limits.MODEL, item, "model", limits.Key(f"model:{_family_of(model)}"), subject=model.name)
        for model in chosen
        for item in limits.parse_rate(rates.get(_family_of(model), "off"))
    ]
