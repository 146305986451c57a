from decimal import Decimal

from accounts.actor import Actor
from battles import actions
from battles.models import Battle
from models_registry.models import LanguageModel, SpendingDay
from models_registry.versions import set_price
from tests import make

A_CENT_A_TOKEN = Decimal(10_000)


def paid_model(name: str = "honest", *, at: str = "http://127.0.0.1:9/v1", cap: int = 3) -> LanguageModel:
    """Return a model with free prompts and answers at one cent per token."""
    model = make.model(name, at=at, parameters={"max_tokens": cap})
    set_price(model, Decimal(0), A_CENT_A_TOKEN)
    return model


def cents(number: int) -> Decimal:
    """Return US dollars."""
    return Decimal(number) / 100


def accounts() -> dict[str, tuple[Decimal, Decimal]]:
    """Return (reserved, spent) in cents by account."""
    return {row.account: (row.reserved * 100, row.spent * 100) for row in SpendingDay.objects.all()}


def start(actor: Actor) -> Battle:
    return actions.start_session(actor=actor, prompt="one two three")
