"""Tokens' use and people's data, for the app of accounts."""

from datetime import timedelta
from decimal import Decimal

from django.db.models import Count, Sum
from django.db.models.functions import Coalesce
from django.dispatch import receiver
from django.utils import timezone

from accounts.models import User
from accounts.payload_types import TokenUsagePayload
from accounts.personal_data import account_deleting, personal_data_requested
from accounts.token_usage import USAGE_DAYS, token_usage_requested
from common.payload_types import JsonObject
from common.text.money import plain_decimal
from gateway.models import Exchange


@receiver(token_usage_requested)
def sum_usage(user: User, **_: object) -> dict[int, TokenUsagePayload]:
    recent = Exchange.objects.of_user(user).filter(created_at__gt=timezone.now() - timedelta(days=USAGE_DAYS))
    rows = recent.order_by().values("token").annotate(
        requests=Count("pk"), prompt=Sum("prompt_tokens"), completion=Sum("completion_tokens"),
        # A killed process leaves the cost of its exchange to the sweeper, which knows the call only.
        dollars=Sum(Coalesce("cost", "call__cost")),
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


@receiver(personal_data_requested)
def export_exchanges(user: User, **_: object) -> dict[str, list[JsonObject]]:
    names = (
        "public_id", "created_at", "asked_model", "call__model__slug", "prompt_tokens", "completion_tokens", "cost",
        "finish_reason", "error", "texts",
    )  # fmt: skip
    return {"exchanges": list(Exchange.objects.filter(user=user).order_by("pk").values(*names))}


@receiver(account_deleting)
def forget_texts(user: User, **_: object) -> None:
    Exchange.objects.filter(user=user).update(texts=None, session_digest="", user=None)
