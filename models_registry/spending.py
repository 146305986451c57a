"""Money reserved before calls and settled after them; concurrent reservations never exceed a budget.

A call costs at most its reservation: a prompt's token is at least one byte and the answer has a cap.
"""

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import ROUND_UP, Decimal

import msgspec
from django.db import connection, transaction

from accounts import audit
from accounts.models import Team, User
from models_registry.models import LanguageModel, Price
from models_registry.models.budgets import budget_of
from models_registry.models.ledger import (
    SITE,
    Account,
    Charge,
    PaidCallsHalt,
    SpendingDay,
    are_paid_calls_halted,
    lock_order,
    person_account,
    provider_account,
    team_account,
    this_month,
    today,
)
from models_registry.payers import personal_budget
from models_registry.providers.base import Message, max_tokens_per_image
from models_registry.providers.sizes import MessagesSize
from models_registry.sql import read_sql

logger = logging.getLogger(__name__)

COST_QUANTUM = Decimal("1e-8")
# Tokens that a chat template may add to each message.
MAX_TEMPLATE_TOKENS = 16
# Anthropic's price of writing a prompt's token to the cache for an hour; for five minutes it is 1.25.
MAX_CACHE_WRITE_FACTOR = 2
NOTHING: Mapping[Account, Decimal] = {}


class OverBudget(Exception):
    """Raised if a reservation exceeds `account`'s budget, or paid calls are halted (`account` is "")."""

    def __init__(self, account: str = "") -> None:
        super().__init__(account)
        self.account = account

    @property
    def is_payers(self) -> bool:
        """Return whether the account is the person's or the team's."""
        return self.account.startswith((person_account(""), team_account("")))

    def concerns(self, model: LanguageModel) -> bool:
        """Return whether no person can pay for calls to `model` now."""
        accounts = {"", provider_account(model.provider_id)} | (set() if model.provider.team_id else {SITE})
        return model.is_paid and self.account in accounts


def bill(
    model: LanguageModel,
    messages: Sequence[Message],
    *,
    person: str,
    team_id: int | None = None,
    is_quoted: bool = False,
    max_tokens: int = 0,
    extra_tokens: int = 0,
    fee: Decimal = Decimal(0),
    writes_cache: bool = False,
) -> Charge | None:
    """Return the unsaved charge to reserve for sending `messages`; None for a free model.

    person: Actor.key, or "". team_id: of the place. is_quoted: person and team pay by a quote. max_tokens: the answer's
    cap; 0 for the model's own. extra_tokens: maximum of the prompt's tokens outside of messages. fee: US dollars in
    addition to those of the tokens.
    """
    price = model.price
    if price is None or not price.is_above_zero:
        return None
    size = MessagesSize.of(messages)
    prompt = max_prompt_tokens(model.upstream_name, size, extra_tokens=extra_tokens, context=model.context_length or 0)
    prompt *= MAX_CACHE_WRITE_FACTOR if writes_cache else 1
    maximum = max_cost(price, prompt_tokens=prompt, max_tokens=max_tokens or model.max_tokens) + fee
    # A call outside of places to a team's model, such as a probe, is paid by the team, too.
    team_id = model.provider.team_id if team_id is None else team_id
    return Charge(
        model=model, provider_id=model.provider_id, price=price, person="" if is_quoted else person, most=maximum,
        team_id=team_id, month=None if team_id is None or is_quoted else this_month(),
        site_pays=model.provider.team_id is None,
    )  # fmt: skip


def max_prompt_tokens(upstream_name: str, size: MessagesSize, *, extra_tokens: int = 0, context: int = 0) -> int:
    """Return the most tokens that a prompt can have: its bytes, or the context if known and less, and its pictures."""
    others = extra_tokens + max_tokens_in(size, image=0)
    pictures = size.images * max_tokens_per_image(upstream_name)
    return (min(others, context) if context else others) + pictures


def max_tokens_in(size: MessagesSize, *, image: int) -> int:
    """image: tokens of one image."""
    return size.text.bytes + size.images * image + size.files + size.messages * MAX_TEMPLATE_TOKENS


def max_cost(price: Price, *, prompt_tokens: int, max_tokens: int) -> Decimal:
    """Return US dollars."""
    return price.cost_of(prompt_tokens=prompt_tokens, completion_tokens=max_tokens).quantize(COST_QUANTUM, ROUND_UP)


def reserve(bills: Sequence[Charge], *, shares: Mapping[Account, Decimal] = NOTHING) -> list[Charge]:
    """Reserve and store all or none. Raises OverBudget.

    shares: of those who pay otherwise than by `bills`, and requests.
    Once per transaction and as late as possible, because of its locks.
    """
    if not bills and not shares:
        return []
    day = today()
    for charge in bills:
        charge.day = day
    amounts, budgets = _amounts_and_budgets(bills, shares)
    numbers = _reserve_at_once(day, bills, amounts, budgets)
    if numbers is None:
        return _reserve_stepwise(bills, amounts, budgets)
    for charge, number in zip(bills, numbers, strict=True):
        charge.pk, charge._state.adding = number, False
    return list(bills)


def _amounts_and_budgets(
    bills: Sequence[Charge], shares: Mapping[Account, Decimal]
) -> tuple[dict[Account, Decimal], dict[str, Decimal | None]]:
    """budgets: by name, without those of teams."""
    amounts: dict[Account, Decimal] = defaultdict(Decimal, shares)
    budgets: dict[str, Decimal | None] = {SITE: budget_of(SITE)}
    for charge in bills:
        budgets[provider_account(charge.provider_id)] = charge.model.provider.daily_budget
        for account in charge.accounts:
            amounts[account] += charge.most
    people = person_account("")
    for account in amounts:
        if account.name.startswith(people):
            budgets[account.name] = personal_budget(account.name.removeprefix(people))
    return amounts, budgets


def _reserve_at_once(
    day: date, bills: Sequence[Charge], amounts: Mapping[Account, Decimal], budgets: Mapping[str, Decimal | None]
) -> list[int] | None:
    """Return the new charges' ids; None after which nothing has changed, as at an account's first call of a day."""
    rows = [
        {
            "model_id": charge.model_id, "provider_id": charge.provider_id, "price_id": charge.price_id,
            "person": charge.person, "team_id": charge.team_id, "month": charge.month,
            "site_pays": charge.site_pays, "most": charge.most,
        }
        for charge in bills
    ]  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(
            read_sql("reserve.sql"),
            {
                "accounts": [account.name for account in amounts], "days": [account.day for account in amounts],
                "amounts": list(amounts.values()), "budgets": [budgets.get(account.name) for account in amounts],
                "teams": [account.team_id for account in amounts], "limits": [account.limit for account in amounts],
                "day": day, "charges": msgspec.json.encode(rows).decode(),
            },
        )  # fmt: skip
        is_granted, numbers = cursor.fetchone()
        return numbers if is_granted else None


@transaction.atomic
def _reserve_stepwise(
    bills: Sequence[Charge], amounts: Mapping[Account, Decimal], budgets: Mapping[str, Decimal | None]
) -> list[Charge]:
    """Reserve in one account after the other, to name the first that refuses. Raises OverBudget."""
    if bills and are_paid_calls_halted():
        raise OverBudget
    teams = Team.objects.in_bulk({account.team_id for account in amounts if account.team_id is not None})
    for account in sorted(amounts, key=lock_order):
        team = teams.get(account.team_id)
        cap = budgets.get(account.name) if team is None else getattr(team, account.limit)
        if not SpendingDay.objects.reserve(account.day, account.name, amounts[account], cap=cap):
            raise OverBudget(account.name)
    return Charge.objects.bulk_create(bills)


def reserve_affordable(
    bills: Mapping[int, Charge | None], *, share: Mapping[Account, Decimal] = NOTHING
) -> tuple[dict[int, Charge | None], str]:
    """Reserve the bills that fit into the budgets. Return them by key, and the first account that refused, or "".

    bills: None for a free call. share: what each of them reserves in addition, such as a request.
    """
    affordable, refusing = dict(bills), ""
    shared = {account.name for account in share}
    while affordable:
        charges = [charge for charge in affordable.values() if charge is not None]
        shares = {account: amount * len(affordable) for account, amount in share.items()}
        try:
            reserve(charges, shares=shares)
        except OverBudget as error:
            logger.warning("calls are not made: over the budget of %s", error.account or "halted paid calls")
            refusing = refusing or error.account
            if error.account in shared:
                affordable = dict(list(affordable.items())[: len(affordable) // 2])
            else:
                affordable = {key: charge for key, charge in affordable.items() if not _is_refused(charge, error)}
        else:
            break
    return affordable, refusing


def _is_refused(charge: Charge | None, error: OverBudget) -> bool:
    if charge is None:
        return False
    return not error.account or error.account in {account.name for account in charge.accounts}


def settle(costs: Mapping[int, Decimal]) -> None:
    """Store costs (US dollars, by charge) and release reservations. Once per transaction; skips settled charges."""
    if not costs:
        return
    with connection.cursor() as cursor:
        cursor.execute(read_sql("settle.sql"), {"charges": list(costs), "costs": list(costs.values())})


@transaction.atomic
def halt_paid_calls(*, by: User) -> None:
    """Refuse further calls to paid models; calls in progress continue."""
    _, is_new = PaidCallsHalt.objects.get_or_create(pk=1)
    if is_new:
        audit.record(by, "halt paid calls", "the site")


@transaction.atomic
def allow_paid_calls(*, by: User) -> None:
    deleted, _ = PaidCallsHalt.objects.all().delete()
    if deleted:
        audit.record(by, "allow paid calls", "the site")
