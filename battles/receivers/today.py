"""Money and votes of a person's day."""

from datetime import UTC, datetime, time, timedelta
from decimal import Decimal

from django.conf import settings
from django.db.models import Sum
from django.dispatch import receiver

from accounts.actor import Actor
from accounts.limiting.usage import today_requested
from accounts.payload_types import TodayPayload
from battles.models import Answer, Battle, Vote
from common.text.money import plain_decimal
from models_registry import spending
from models_registry.models.ledger import today


@receiver(today_requested)
def person_today(actor: Actor, **_: object) -> TodayPayload:
    midnight = datetime.combine(today(), time(), UTC)
    budget = spending.personal_budget(actor.key)
    return {
        "spent": plain_decimal(_spent_since(actor, midnight)),
        "budget": None if budget is None else plain_decimal(budget),
        "votes": Vote.objects.filter(voter=actor.key, created_at__gte=midnight).count() if actor.is_known else 0,
        "vote_cap": settings.ARENA_DAILY_VOTES["person"] or None,
        "resets_at": midnight + timedelta(days=1),
    }


def _spent_since(actor: Actor, moment: datetime) -> Decimal:
    """US dollars for revealed answers only: a cost would reveal a blind model."""
    battles = Battle.objects.owned_by(actor).revealed().filter(session__last_active_at__gte=moment)
    answers = Answer.objects.filter(turn__battle__in=battles, call__charge__day=moment.date())
    return answers.aggregate(spent=Sum("call__cost"))["spent"] or Decimal(0)
