"""Money: set aside before a call, settled after it, never beyond a cap, however many ask at once.

A call may cost no more than its reservation: a token is at least a byte of the prompt, and the answer has a cap.
"""

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_UP, Decimal

from django.conf import settings
from django.db import transaction
from django.db.models import F

from accounts import audit
from accounts.models import User
from models_registry.models import LanguageModel, Price
from models_registry.models.ledger import (
    SITE,
    Charge,
    PaidCallsHalt,
    SpendingDay,
    accounts_of,
    are_paid_calls_halted,
    person_account,
    provider_account,
    today,
)
from models_registry.providers.base import Message, images_in, most_tokens_of_an_image, text_in

logger = logging.getLogger(__name__)

SMALLEST = Decimal("1e-8")
# What a chat template may add to each message.
TOKENS_AROUND_A_MESSAGE = 16


class OverBudget(Exception):
    """A reservation does not fit into `account`'s budget, or paid calls are halted (`account` is "")."""

    def __init__(self, account: str = "") -> None:
        super().__init__(account)
        self.account = account

    @property
    def is_personal(self) -> bool:
        return self.account.startswith(person_account(""))

    def concerns(self, model: LanguageModel) -> bool:
        """Whether calls to `model` are what does not fit, whoever asks."""
        return model.is_paid and self.account in ("", SITE, provider_account(model.provider_id))


@dataclass(frozen=True)
class Bill:
    """The most that a call to a paid model can cost (US dollars), and whose it is."""

    model: LanguageModel
    price: Price
    person: str
    most: Decimal

    @property
    def accounts(self) -> list[str]:
        return accounts_of(self.model.provider_id, self.person)


def bill(model: LanguageModel, messages: Sequence[Message], *, person: str, most_tokens: int = 0) -> Bill | None:
    """What to reserve for sending `messages` (`person`: Actor.key, or ""); None for a model that costs nothing.

    `most_tokens`: the answer's cap, where it is not the model's own.
    """
    price = model.price
    if price is None or not price.is_above_zero:
        return None
    image = most_tokens_of_an_image(model.upstream_name)
    prompt = sum(_most_tokens_in(message, image=image) + TOKENS_AROUND_A_MESSAGE for message in messages)
    most = price.cost_of(prompt_tokens=prompt, completion_tokens=most_tokens or model.most_tokens)
    return Bill(model, price, person, most.quantize(SMALLEST, ROUND_UP))


def _most_tokens_in(message: Message, *, image: int) -> int:
    return len(text_in(message).encode()) + images_in(message) * image


@transaction.atomic
def reserve(bills: Sequence[Bill]) -> list[Charge]:
    """Set the money of these calls aside, all or none. Once a transaction, as late as possible. Raises OverBudget."""
    if not bills:
        return []
    if are_paid_calls_halted():
        raise OverBudget
    wanted: dict[str, Decimal] = defaultdict(Decimal)
    caps: dict[str, Decimal | None] = {SITE: settings.ARENA_BUDGETS["site"]}
    for call in bills:
        caps[provider_account(call.model.provider_id)] = call.model.provider.daily_budget
        if call.person:
            caps[person_account(call.person)] = personal_budget(call.person)
        for account in call.accounts:
            wanted[account] += call.most
    day = today()
    for account in sorted(wanted):  # everybody locks in this order, so nobody waits for each other
        if not SpendingDay.objects.reserve(day, account, wanted[account], cap=caps[account]):
            raise OverBudget(account)
    return Charge.objects.bulk_create(
        [
            Charge(
                day=day, model=call.model, provider_id=call.model.provider_id, price=call.price,
                person=call.person, most=call.most,
            )
            for call in bills
        ]
    )  # fmt: skip


def reserve_what_fits(bills: Mapping[int, Bill]) -> dict[int, Charge]:
    """As `reserve`, but those that do not fit are left out of what is returned."""
    fitting = dict(bills)
    while fitting:
        try:
            return dict(zip(fitting, reserve(list(fitting.values())), strict=True))
        except OverBudget as error:
            logger.warning("calls are not made: over the budget of %s", error.account or "halted paid calls")
            fitting = {
                key: call for key, call in fitting.items() if error.account and error.account not in call.accounts
            }
    return {}


@transaction.atomic
def settle(costs: Mapping[int, Decimal]) -> None:
    """What calls did cost (US dollars), by their charge's id. Once a transaction; a settled charge stays as it is."""
    released: dict[tuple[str, date], Decimal] = defaultdict(Decimal)
    spent: dict[tuple[str, date], Decimal] = defaultdict(Decimal)
    for charge in Charge.objects.select_for_update().filter(pk__in=costs, cost=None).order_by("pk"):
        charge.cost = costs[charge.pk]
        charge.save(update_fields=["cost"])
        for account in charge.accounts:
            released[account, charge.day] += charge.most
            spent[account, charge.day] += charge.cost
    for account, day in sorted(released):
        SpendingDay.objects.filter(day=day, account=account).update(
            reserved=F("reserved") - released[account, day], spent=F("spent") + spent[account, day]
        )


def personal_budget(person: str) -> Decimal | None:
    """US dollars a day; `person` is Actor.key."""
    return settings.ARENA_BUDGETS["member" if person.startswith("user:") else "visitor"]


def personal_rest(person: str) -> Decimal | None:
    """What is left for `person` today; None without a cap."""
    budget = personal_budget(person)
    if budget is None:
        return None
    account = person_account(person)
    return budget - SpendingDay.objects.used_today([account]).get(account, Decimal(0))


@transaction.atomic
def halt_paid_calls(*, by: User) -> None:
    """No paid model is called from now on; calls under way end by themselves."""
    _, is_new = PaidCallsHalt.objects.get_or_create(pk=1)
    if is_new:
        audit.record(by, "halt paid calls", "the site")


@transaction.atomic
def allow_paid_calls(*, by: User) -> None:
    deleted, _ = PaidCallsHalt.objects.all().delete()
    if deleted:
        audit.record(by, "allow paid calls", "the site")
