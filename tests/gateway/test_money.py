"""Costs of requests: unknown prices, and calls that failed before another model answered."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import openai
import pytest
from openai import OpenAI

from accounts.actor import Actor
from battles.models import Call
from gateway.models import Exchange
from models_registry.models import Charge, LanguageModel
from models_registry.models.ledger import person_account
from models_registry.versions import set_price
from tests import make
from tests.fake_provider import FakeProvider
from tests.gateway.software import ASKED, settled
from tests.models_registry.paid_models import A_CENT_A_TOKEN, accounts, cents, paid_model
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _router(settings: Any) -> None:
    settings.ARENA_ROUTER = "battles.auto.port.heaviest_weight"


def costs() -> tuple[list[Decimal | None], Decimal]:
    """Return the exchanges' costs, and the sum of all charges, in US dollars."""
    return (
        list(Exchange.objects.order_by("pk").values_list("cost", flat=True)),
        sum(Charge.objects.values_list("cost", flat=True), Decimal(0)),
    )


def test_unknown_price_reserves_and_charges_nothing(
    client: OpenAI, model: Callable[..., Any], fake_provider: FakeProvider, owner: Actor, settings: Any
):
    settings.ARENA_BUDGETS = {**settings.ARENA_BUDGETS, "member": cents(0)}
    unpriced = model(parameters={"max_tokens": 2})
    answer = client.chat.completions.create(model=unpriced.slug, messages=ASKED, max_tokens=1_000)
    assert answer.usage is not None
    assert answer.usage.completion_tokens == 3
    assert [request["max_tokens"] for request in fake_provider.requests] == [2]
    call = Call.objects.get()
    assert (call.price, call.charge, call.cost, accounts()) == (None, None, None, {})
    assert costs() == ([None], 0)
    [listed] = make.browser(owner).get("/api/v1/me/tokens/").json()["results"]
    assert (listed["usage"]["requests"], listed["usage"]["cost"]) == (1, "0")
    exported = make.browser(owner).get("/api/v1/me/export/").json()["gateway_exchanges"]
    assert [exchange["cost"] for exchange in exported] == [None]
    with pytest.raises(openai.RateLimitError) as refusal:  # the budget still holds for models with a price
        client.chat.completions.create(model=paid_model(at=fake_provider.base_url).slug, messages=ASKED)
    assert refusal.value.code == "budget_reached"


def test_price_set_during_an_answer_counts_for_later_ones(
    client: OpenAI, model: Callable[..., Any], fake_provider: FakeProvider
):
    unpriced = model("hang-after-1")
    with client.chat.completions.create(model=unpriced.slug, messages=ASKED, stream=True) as stream:
        next(iter(stream))
        set_price(unpriced, Decimal(0), A_CENT_A_TOKEN)
    wait_for(settled)
    assert (costs(), accounts()) == (([None], 0), {})
    LanguageModel.objects.filter(pk=unpriced.pk).update(upstream_name="honest")
    client.chat.completions.create(model=unpriced.slug, messages=ASKED)
    assert costs() == ([None, cents(3)], cents(3))


@pytest.mark.parametrize("is_stream", [True, False])
def test_costs_of_all_hops_equal_the_ledger(client: OpenAI, model: Callable[..., Any], owner: Actor, is_stream: bool):
    hops = [model("malformed", weight=3), model("cut-after-0" if is_stream else "cut-after-2", weight=2), model()]
    for hop in hops:
        set_price(hop, A_CENT_A_TOKEN, A_CENT_A_TOKEN)
    raw = client.chat.completions.with_raw_response.create(model="auto", messages=ASKED, stream=is_stream)
    if is_stream:
        list(raw.parse())
    wait_for(settled)
    charges = dict(Charge.objects.values_list("model__slug", "cost"))
    assert charges.keys() == {hop.slug for hop in hops}
    assert charges[hops[2].slug] == cents(10)
    assert sum(charges.values()) > cents(10)  # prompts and beginnings of failed calls are billed
    assert costs() == ([sum(charges.values())], sum(charges.values()))
    assert [call.cost for call in Call.objects.order_by("pk")] == [charges[hop.slug] for hop in hops]
    spent = sum(charges.values()) * 100
    assert {accounts()[account] for account in ("site", person_account(owner.key))} == {(0, spent)}


def test_unknown_price_among_hops_adds_nothing(client: OpenAI, model: Callable[..., Any]):
    model("malformed", weight=2)
    set_price(model(), Decimal(0), A_CENT_A_TOKEN)
    client.chat.completions.create(model="auto", messages=ASKED)
    assert (Exchange.objects.get().fallbacks, costs()) == (1, ([cents(3)], cents(3)))
