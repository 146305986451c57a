"""Reservations and settlements: one statement each, and many at once."""

import random
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from models_registry import spending
from models_registry.models import Charge, LanguageModel, PaidCallsHalt, SpendingDay
from models_registry.models.ledger import SITE, person_account, provider_account
from models_registry.spending import OverBudget
from tests.models_registry.paid_models import accounts, cents, paid_model

pytestmark = pytest.mark.django_db(transaction=True)
PEOPLE = ["user:1", "user:10", "user:2", "visitor:3"]


def bill(model: LanguageModel, person: str = "user:1") -> Charge:
    """Return a charge of at most three cents."""
    charge = spending.bill(model, [{"role": "user", "content": "one"}], person=person)
    assert charge is not None
    return charge


def limit(settings: Any, **dollars: Decimal | None) -> None:
    settings.ARENA_BUDGETS = {"site": None, "member": None, "visitor": None, **dollars}


def test_known_accounts_take_one_statement():
    model = paid_model()
    [first] = spending.reserve([bill(model)])
    bills = [bill(model), bill(model, "")]
    with CaptureQueriesContext(connection) as queries:
        second, third = spending.reserve(bills)
        assert len(queries) == 1
        spending.settle({first.pk: cents(1), second.pk: cents(2), third.pk: cents(0)})
    assert len(queries) == 2
    assert accounts() == {SITE: (0, 3), provider_account(model.provider_id): (0, 3), person_account("user:1"): (0, 3)}
    stored = Charge.objects.order_by("pk").values_list("person", "most", "cost")
    assert list(stored) == [("user:1", cents(3), cents(1)), ("user:1", cents(3), cents(2)), ("", cents(3), cents(0))]


@pytest.mark.parametrize("refusing", ["site", "provider", "member"])
def test_refusal_names_its_account_and_reserves_nothing(settings: Any, refusing: str):
    model = paid_model()
    spending.reserve([bill(model)])
    if refusing == "provider":
        model.provider.daily_budget = cents(5)
    limit(settings, **({} if refusing == "provider" else {refusing: cents(5)}))
    before = accounts()
    with pytest.raises(OverBudget) as refusal:
        spending.reserve([bill(model)])
    names = {"site": SITE, "provider": provider_account(model.provider_id), "member": person_account("user:1")}
    assert (refusal.value.account, accounts(), Charge.objects.count()) == (names[refusing], before, 1)


def test_halt_refuses_reservations():
    model = paid_model()
    spending.reserve([bill(model)])
    PaidCallsHalt.objects.create(pk=1)
    before = accounts()
    with pytest.raises(OverBudget) as refusal:
        spending.reserve([bill(model)])
    assert (refusal.value.account, accounts()) == ("", before)


@pytest.mark.slow
def test_crowd_neither_deadlocks_nor_exceeds_a_budget(settings: Any):
    # It begins with the first calls of a day, whose rows do not exist yet.
    limit(settings, site=cents(90), member=cents(36))
    models = [paid_model(at=f"http://127.0.0.1:{port}/v1") for port in (7, 8, 9)]
    models[0].provider.daily_budget = cents(45)

    def call(number: int) -> None:
        generator = random.Random(number)
        try:
            for _ in range(12):
                bills = [
                    bill(generator.choice(models), generator.choice(PEOPLE)) for _ in range(generator.randint(1, 3))
                ]
                try:
                    with transaction.atomic():
                        charges = spending.reserve(bills)
                except OverBudget:
                    continue
                if generator.random() < 0.7:
                    generator.shuffle(charges)
                    with transaction.atomic():
                        spending.settle({charge.pk: charge.most / 3 for charge in charges})
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(call, range(16)))
    budgets = {SITE: 90, provider_account(models[0].provider_id): 45}
    budgets |= {person_account(person): 36 for person in PEOPLE if person.startswith("user:")}
    balances = accounts()
    assert all(sum(balances[account]) <= budget for account, budget in budgets.items())
    assert sum(balances[SITE]) > 80
    for account, (reserved, spent) in balances.items():
        charges = [charge for charge in Charge.objects.all() if account in {each.name for each in charge.accounts}]
        assert reserved == 100 * sum(charge.most for charge in charges if charge.cost is None), account
        assert spent == 100 * sum(charge.cost for charge in charges if charge.cost is not None), account
    assert SpendingDay.objects.count() == len(balances) == 1 + len(models) + len(PEOPLE)
