from decimal import Decimal

import pytest

from battles import actions
from battles.calls.values import CallResult
from battles.models import Call
from battles.prompting.messages import CHARACTERS_PER_TOKEN
from battles.worker import turn_store
from battles.worker.runner import Engine
from models_registry import spending
from models_registry.models import Charge, LanguageModel, SpendingDay
from models_registry.models.ledger import SITE, person_account, provider_account
from models_registry.providers import Completion, FailureCode
from models_registry.versions import set_price
from tests import make
from tests.fake_provider import FakeProvider
from tests.models_registry.paid_models import A_CENT_A_TOKEN, accounts, cents, paid_model, start
from tests.turn_steps import claim_turn, store_answer

pytestmark = pytest.mark.django_db(transaction=True)


def test_battle_reserves_maximum_and_pays_actual_cost(fake_provider: FakeProvider, engine: Engine):
    for name in ("honest-a", "honest-b"):
        paid_model(name, at=fake_provider.base_url, cap=10)
    actor = make.visitor()
    battle = start(actor)
    provider = provider_account(LanguageModel.objects.first().provider_id)
    person = person_account(actor.key)
    assert accounts() == dict.fromkeys((SITE, provider, person), (20, 0))
    engine.answer(battle.turns.get().pk)
    paid = accounts()
    assert (paid[SITE], paid[provider]) == ((0, 6), (0, 6))
    text = len("one two three ") / CHARACTERS_PER_TOKEN
    assert [float(cost) for cost in paid[person]] == [0, pytest.approx(2 * text, abs=1e-5)]
    assert {(call.cost, call.charge.cost) for call in Call.objects.all()} == {(cents(3), cents(3))}


def test_free_models_have_no_ledger_rows(fake_provider: FakeProvider, engine: Engine, settings):
    settings.ARENA_BUDGETS = {"visitor": cents(0), "member": cents(0), "site": cents(0)}
    for name in ("honest-a", "honest-b"):
        set_price(make.model(name, at=fake_provider.base_url), Decimal(0), Decimal(0))
    engine.answer(start(make.visitor()).turns.get().pk)
    assert not SpendingDay.objects.exists()
    assert not Charge.objects.exists()
    assert {call.cost for call in Call.objects.all()} == {0}


def test_lost_call_is_charged_the_maximum(settings):
    battle = make.battle(paid_model(), make.model())
    claimed = claim_turn(battle.turns.get().pk)
    turn_store.begin_calls(claimed)
    assert accounts()[SITE] == (3, 0)
    turn_store.release(claimed)
    assert accounts()[SITE] == (0, 3)
    lost = Call.objects.get(charge__isnull=False)
    assert (lost.state, lost.cost, lost.tokens_estimated) == ("lost", cents(3), True)


def test_redraw_is_charged_too(fake_provider: FakeProvider, engine: Engine):
    hurried = make.provider(fake_provider.base_url.replace("/v1", "/hurried/v1"), first_s=0.3)
    failing = paid_model("hang-after-0", at=hurried.base_url)
    battle = make.battle(make.model(at=fake_provider.base_url), failing)
    paid_model(at=fake_provider.base_url)
    engine.answer(battle.turns.get().pk)
    costs = list(Charge.objects.order_by("pk").values_list("cost", flat=True))
    assert costs == [0, cents(3)]  # the first call failed without an answer
    assert accounts()[SITE] == (0, 3)


@pytest.mark.parametrize(
    ("result", "cost"),
    [
        (CallResult(texts=["a word"], completion=Completion("stop", prompt_tokens=9, completion_tokens=2)), 2),
        (CallResult(texts=["six characters are two tokens"[:6]], stopped=True), 2),
        (CallResult(texts=["abc"], error=FailureCode.CUT), 1),
        (CallResult(error=FailureCode.RATE_LIMITED), 0),
        (CallResult(error=FailureCode.REFUSED_KEY), 0),
        (CallResult(error=FailureCode.RATE_LIMITED, was_sent=False), 0),
    ],
)
def test_cost_follows_from_the_result(result: CallResult, cost: int):
    battle = make.battle(paid_model(), make.model())
    claimed = claim_turn(battle.turns.get().pk)
    left, _ = turn_store.begin_calls(claimed)
    store_answer(claimed, left, result)
    assert accounts()[SITE] == (0, cost)


def test_stopped_turn_releases_its_reservations():
    for _ in range(2):
        paid_model()
    actor = make.visitor()
    battle = start(actor)
    actions.stop(battle=battle)
    assert set(accounts().values()) == {(0, 0)}


def test_charge_is_settled_once():
    model = paid_model()
    bill = spending.bill(model, [{"role": "user", "content": "hello"}], person="")
    [charge] = spending.reserve([bill])
    for _ in range(2):
        spending.settle({charge.pk: cents(2)})
    assert accounts() == dict.fromkeys([account.name for account in charge.accounts], (0, 2))


def test_price_change_does_not_affect_running_battle(fake_provider: FakeProvider, engine: Engine):
    models = [paid_model(name, at=fake_provider.base_url) for name in ("honest-a", "honest-b")]
    battle = start(make.visitor())
    for model in models:
        set_price(model, Decimal(0), A_CENT_A_TOKEN * 50)
    engine.answer(battle.turns.get().pk)
    assert accounts()[SITE] == (0, 6)


def test_reservation_covers_one_token_per_byte():
    model = make.model(parameters={"max_tokens": 10})
    set_price(model, A_CENT_A_TOKEN, Decimal(0))
    content = "日本語と🦜🦜🦜"  # at most one token per byte
    bill = spending.bill(model, [{"role": "user", "content": content}], person="")
    assert bill.most >= cents(len(content.encode()))


@pytest.mark.parametrize(
    ("upstream_name", "tokens"), [("seeing", 5_000), ("gpt-4o-mini-2024-07-18", 50_000), ("openai/gpt-4o-mini", 50_000)]
)
def test_reservation_for_image_covers_models_maximum(upstream_name: str, tokens: int):
    model = make.model(upstream_name)
    set_price(model, A_CENT_A_TOKEN, Decimal(0))
    content = [{"type": "text", "text": ""}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,"}}]
    bill = spending.bill(model, [{"role": "user", "content": content}], person="")
    assert bill.most == cents(tokens + spending.MAX_TEMPLATE_TOKENS)
