"""Stored decisions of auto mode."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from battles.models import RoutingDecision
from models_registry.models import LanguageModel


def decision(model: LanguageModel | None = None, *, hours_ago: float = 0, **fields: Any) -> RoutingDecision:
    values: dict[str, Any] = {
        "query_type": "general-chat", "type_confidence": 1, "policy": "learned 1", "model": model,
        "target": "arena" if model is None else "model", "dial": 0.5, "propensity": 1, "reason": "best",
    }  # fmt: skip
    return RoutingDecision.objects.create(
        **{**values, "created_at": timezone.now() - timedelta(hours=hours_ago), **fields}
    )
