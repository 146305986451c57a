from datetime import datetime
from decimal import Decimal
from typing import TypedDict

from django.dispatch import receiver

from accounts.models import User
from accounts.personal_data import account_deleting, personal_data_requested
from common.payload_types import JsonObject
from gateway.models import Exchange


class ExportedExchange(TypedDict):
    """texts: if the token keeps them. Costs and tokens of a battle without a vote are null: they tell models apart."""

    id: str
    created_at: datetime
    asked_model: str
    model: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    cost: Decimal | None
    finish_reason: str
    error: str
    texts: JsonObject | None


@receiver(personal_data_requested)
def export_exchanges(user: User, **_: object) -> dict[str, list[ExportedExchange]]:
    found = Exchange.objects.filter(user=user).select_related("call__model", "battle__vote").order_by("pk")
    return {"gateway_exchanges": [_exported(exchange) for exchange in found.iterator(500)]}


def _exported(exchange: Exchange) -> ExportedExchange:
    is_hidden = exchange.battle is not None and exchange.battle.hides_names
    return {
        "id": exchange.public_id,
        "created_at": exchange.created_at,
        "asked_model": exchange.asked_model,
        "model": exchange.call.model.slug if exchange.call and not is_hidden else None,
        "prompt_tokens": None if is_hidden else exchange.prompt_tokens,
        "completion_tokens": None if is_hidden else exchange.completion_tokens,
        "cost": None if is_hidden else exchange.cost,
        "finish_reason": exchange.finish_reason,
        "error": exchange.error,
        "texts": exchange.texts,
    }


@receiver(account_deleting)
def forget_exchanges(user: User, **_: object) -> None:
    """Delete the texts and the digests of sessions; calls and costs stay without the person."""
    Exchange.objects.filter(user=user).update(texts=None, session_digest="")
