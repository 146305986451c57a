from datetime import timedelta
from decimal import Decimal

from django.db.models import Count, Sum
from django.dispatch import receiver
from django.utils import timezone

from accounts.models import User
from accounts.payload_types import TokenUsagePayload
from accounts.token_usage import USAGE_DAYS, token_usage_requested
from common.text.money import plain_decimal
from gateway.models import Exchange


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
