"""Receivers of signals of accounts: personal data, and the use of tokens."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import NotRequired, TypedDict

from django.db.models import Count, Sum
from django.dispatch import receiver
from django.utils import timezone

from accounts.models import User
from accounts.payload_types import TokenUsagePayload
from accounts.personal_data import account_deleting, personal_data_requested
from accounts.token_usage import USAGE_DAYS, token_usage_requested
from common.payload_types import JsonObject
from common.text.money import plain_decimal
from gateway.models import Exchange


class ExportedExchange(TypedDict):
    """team: only of exchanges in one. texts: if the token keeps them.

    Costs and tokens of a battle without a vote are null: they tell models apart.
    """

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
    team: NotRequired[str]


@receiver(personal_data_requested)
def export_exchanges(user: User, **_: object) -> dict[str, list[ExportedExchange]]:
    exchanges = (
        Exchange.objects.filter(user=user).select_related("call__model__team", "battle__vote", "team").order_by("pk")
    )
    return {"gateway_exchanges": [_exported(exchange) for exchange in exchanges.iterator(500)]}


def _exported(exchange: Exchange) -> ExportedExchange:
    is_hidden = exchange.battle is not None and exchange.battle.hides_names
    exported: ExportedExchange = {
        "id": exchange.public_id,
        "created_at": exchange.created_at,
        "asked_model": exchange.asked_model,
        "model": exchange.call.model.full_slug if exchange.call and not is_hidden else None,
        "prompt_tokens": None if is_hidden else exchange.prompt_tokens,
        "completion_tokens": None if is_hidden else exchange.completion_tokens,
        "cost": None if is_hidden else exchange.cost,
        "finish_reason": exchange.finish_reason,
        "error": exchange.error,
        "texts": exchange.texts,
    }
    return exported if exchange.team is None else {**exported, "team": exchange.team.slug}


@receiver(account_deleting)
def forget_exchanges(user: User, **_: object) -> None:
    """Delete the texts and the digests of sessions; calls and costs stay without the person."""
    Exchange.objects.filter(user=user).update(texts=None, session_digest="")


@receiver(token_usage_requested)
def sum_usage(user: User, **_: object) -> dict[int, TokenUsagePayload]:
    recent = Exchange.objects.of_user(user).filter(created_at__gt=timezone.now() - timedelta(days=USAGE_DAYS))
    rows = recent.order_by().values("token").annotate(
        requests=Count("pk"), prompt=Sum("prompt_tokens"), completion=Sum("completion_tokens"),
        dollars=Sum("cost"),
    )  # fmt: skip
    return {
        row["token"]: {
            "days": USAGE_DAYS,
            "requests": row["requests"],
            "prompt_tokens": row["prompt"] or 0,
            "completion_tokens": row["completion"] or 0,
            "cost": plain_decimal(row["dollars"] or Decimal(0)),
        }
        for row in rows
    }
