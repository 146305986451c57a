from datetime import datetime

from gateway.models import Exchange

BATCH = 5_000


def delete_old_exchanges(*, before: datetime) -> None:
    """Delete exchanges with their texts, a few at a time; their calls stay."""
    old = Exchange.objects.filter(created_at__lt=before).order_by("pk")
    while pks := list(old.values_list("pk", flat=True)[:BATCH]):
        Exchange.objects.filter(pk__in=pks).delete()
