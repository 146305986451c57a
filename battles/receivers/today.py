from datetime import UTC, datetime, time, timedelta
from decimal import Decimal

from django.conf import settings
from django.db.models import Sum
from django.dispatch import receiver

from accounts.actor import Actor
from accounts.limiting.usage import today_requested
from accounts.payload_types import TodayPayload
from battles.models import Battle, Call, Vote
from common.text.money import plain_decimal
from models_registry.models.ledger import SpendingDay, person_account, today
from models_registry.payers import personal_budget


@receiver(today_requested)
def person_today(actor: Actor, **_: object) -> TodayPayload:
    midnight = datetime.combine(today(), time(), UTC)
    budget, votes = personal_budget(actor.key), Vote.objects.outside_of_reviews()
    return {
        "spent": plain_decimal(_spent_today(actor)),
        "budget": None if budget is None else plain_decimal(budget),
        "votes": votes.filter(voter=actor.key, created_at__gte=midnight).count() if actor.is_known else 0,
        "vote_cap": settings.ARENA_DAILY_VOTES["person"] or None,
        "resets_at": midnight + timedelta(days=1),
    }


def _spent_today(actor: Actor) -> Decimal:
    """US dollars; of a blind answer its BlindCharge, which is the same whichever model gave it."""
    account = SpendingDay.objects.filter(day=today(), account=person_account(actor.key))
    spent = account.values_list("spent", flat=True).first()
    return spent - _hidden_costs(actor) if spent else Decimal(0)


def _hidden_costs(actor: Actor) -> Decimal:
    """Costs of unrevealed answers, which persons paid for in the release before: they would reveal the models."""
    hidden = Battle.objects.owned_by(actor).filter(mode__in=Battle.BLIND_MODES, vote=None)
    calls = Call.objects.filter(answer__turn__battle__in=hidden, charge__person=actor.key, charge__day=today())
    return calls.aggregate(cost=Sum("cost"))["cost"] or Decimal(0)
