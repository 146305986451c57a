"""Money is set aside before a call and settled after it; no crowd gets past a cap."""

import threading
from collections.abc import Callable
from decimal import Decimal

import pytest
from django.db import connection
from django.test.client import MULTIPART_CONTENT
from django.test.utils import CaptureQueriesContext

from accounts.actor import Actor
from battles import actions
from battles import answer_records as records
from battles.call_records import Said
from battles.engine import Engine
from battles.errors import BudgetReached, ModelsOverBudget, TooFewModels
from battles.models import Answer, Battle, Call
from common.errors import ArenaError
from models_registry import spending
from models_registry.ledger import SITE, person_account, provider_account
from models_registry.models import Charge, LanguageModel, SpendingDay
from models_registry.providers import Completion, FailureCode
from models_registry.versions import set_price
from tests import make
from tests.fake_provider import FakeProvider

pytestmark = pytest.mark.django_db(transaction=True)

A_CENT_A_TOKEN = Decimal(10_000)


def paid_model(name: str = "honest", *, at: str = "http://127.0.0.1:9/v1", cap: int = 3) -> LanguageModel:
    """A prompt costs nothing and each token of the answer a cent."""
    model = make.model(name, at=at, parameters={"max_tokens": cap})
    set_price(model, Decimal(0), A_CENT_A_TOKEN)
    return model


def cents(number: int) -> Decimal:
    """In US dollars."""
    return Decimal(number) / 100


def accounts() -> dict[str, tuple[Decimal, Decimal]]:
    """Reserved and spent, in cents."""
    return {row.account: (row.reserved * 100, row.spent * 100) for row in SpendingDay.objects.all()}


def start(actor: Actor) -> Battle:
    return actions.start_session(actor=actor, prompt="one two three")


def answer_of(battle: Battle) -> Answer:
    return Answer.objects.get(turn__battle=battle, side__position="left")


def all_at_once(times: int, act: Callable[[], object]) -> list[str]:
    """What came of it, each in a thread of its own: "ok" or the refusal's code."""
    outcomes = []

    def one() -> None:
        try:
            act()
            outcomes.append("ok")
        except ArenaError as refusal:
            outcomes.append(refusal.code)
        finally:
            connection.close()

    threads = [threading.Thread(target=one) for _ in range(times)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(outcomes)


@pytest.fixture
def _unlimited(settings):
    settings.ARENA_LIMITS = dict.fromkeys(settings.ARENA_LIMITS, "off")


def test_a_battle_reserves_the_most_it_can_cost_and_pays_what_it_did(fake_provider: FakeProvider, engine: Engine):
    for name in ("honest-a", "honest-b"):
        paid_model(name, at=fake_provider.base_url, cap=10)
    actor = make.visitor()
    battle = start(actor)
    provider = provider_account(LanguageModel.objects.first().provider_id)
    person = person_account(actor.key)
    assert accounts() == dict.fromkeys((SITE, provider, person), (20, 0))
    engine.answer(battle.turns.get().pk)
    assert accounts() == dict.fromkeys((SITE, provider, person), (0, 6))
    assert {(call.cost, call.charge.cost) for call in Call.objects.all()} == {(cents(3), cents(3))}


def test_free_models_never_touch_the_ledger(fake_provider: FakeProvider, engine: Engine, settings):
    settings.ARENA_BUDGETS = {"visitor": cents(0), "member": cents(0), "site": cents(0)}
    for name in ("honest-a", "honest-b"):
        set_price(make.model(name, at=fake_provider.base_url), Decimal(0), Decimal(0))
    engine.answer(start(make.visitor()).turns.get().pk)
    assert not SpendingDay.objects.exists()
    assert not Charge.objects.exists()
    assert {call.cost for call in Call.objects.all()} == {0}


@pytest.mark.usefixtures("_unlimited")
def test_fifty_battles_at_once_stay_below_the_persons_budget(settings):
    settings.ARENA_BUDGETS = {**settings.ARENA_BUDGETS, "visitor": cents(20)}
    for _ in range(3):
        paid_model()
    actor = make.visitor()
    outcomes = all_at_once(50, lambda: start(actor))
    assert outcomes == ["budget_reached"] * 47 + ["ok"] * 3  # 6 cents each
    assert accounts()[person_account(actor.key)] == (18, 0)


@pytest.mark.usefixtures("_unlimited")
def test_fifty_people_at_once_stay_below_the_sites_budget(settings):
    settings.ARENA_BUDGETS = {**settings.ARENA_BUDGETS, "site": cents(20)}
    for _ in range(3):
        paid_model()
    people = [make.visitor() for _ in range(50)]
    assert all_at_once(50, lambda: start(people.pop())) == ["ok"] * 3 + ["too_few_models"] * 47
    assert accounts()[SITE] == (18, 0)


@pytest.mark.usefixtures("_unlimited")
def test_a_provider_over_its_budget_leaves_the_draw_to_the_others():
    dear, free = [paid_model(at="http://127.0.0.1:9/dear") for _ in range(2)], [make.model() for _ in range(2)]
    dear[0].provider.daily_budget = cents(7)
    dear[0].provider.save()
    people = [make.visitor() for _ in range(30)]
    assert all_at_once(30, lambda: start(people.pop())) == ["ok"] * 30
    assert accounts()[provider_account(dear[0].provider_id)] == (6, 0)
    SpendingDay.objects.update(spent=cents(7))
    assert LanguageModel.objects.drawable() == free
    assert dear[0].obstacle == "Its provider's budget for today is used up."


def test_who_cannot_pay_for_the_dearest_pair_is_refused_whatever_would_be_drawn(settings):
    settings.ARENA_BUDGETS = {**settings.ARENA_BUDGETS, "visitor": cents(150)}
    paid_model(cap=100)
    paid_model(cap=100)
    for _ in range(20):
        make.model()
    actor = make.visitor()
    with pytest.raises(BudgetReached) as refused:
        start(actor)
    assert 0 < refused.value.retry_after <= 86_400
    assert not Battle.objects.exists()


def test_members_and_visitors_have_budgets_of_their_own(settings):
    settings.ARENA_BUDGETS = {**settings.ARENA_BUDGETS, "visitor": cents(1), "member": cents(100)}
    paid_model()
    paid_model()
    with pytest.raises(BudgetReached):
        start(make.visitor())
    assert start(make.member())


def test_a_follow_up_that_does_not_fit_is_refused_in_a_sentence(settings):
    left, right = paid_model(), make.model()
    actor = make.visitor()
    battle = make.answered_battle(left, right, actor=actor)
    settings.ARENA_BUDGETS = {**settings.ARENA_BUDGETS, "site": cents(2)}
    with pytest.raises(ModelsOverBudget):
        actions.follow_up(actor=actor, battle=battle, prompt="and then?")
    settings.ARENA_BUDGETS = {**settings.ARENA_BUDGETS, "site": None, "visitor": cents(2)}
    with pytest.raises(BudgetReached):
        actions.follow_up(actor=actor, battle=battle, prompt="and then?")
    assert battle.turns.count() == 1
    assert {reserved for reserved, _ in accounts().values()} <= {0}


def test_a_lost_call_is_charged_the_most_it_could_cost(settings):
    battle = make.battle(paid_model(), make.model())
    claimed = records.claim_turn(battle.turns.get().pk)
    records.begin_calls(claimed)
    assert accounts()[SITE] == (3, 0)
    records.hand_back(claimed)
    assert accounts()[SITE] == (0, 3)
    lost = Call.objects.get(charge__isnull=False)
    assert (lost.state, lost.cost, lost.tokens_estimated) == ("lost", cents(3), True)


def test_a_retry_and_a_redraw_are_paid_as_well(fake_provider: FakeProvider, engine: Engine):
    failing = paid_model("hang-after-0", at=fake_provider.base_url)
    failing.provider.first_s = 0.3
    failing.provider.save()
    battle = make.battle(make.model(at=fake_provider.base_url), failing)
    paid_model(at=fake_provider.base_url)
    engine.answer(battle.turns.get().pk)
    costs = list(Charge.objects.order_by("pk").values_list("cost", flat=True))
    assert costs == [0, cents(3)]  # nothing had come of the first
    assert accounts()[SITE] == (0, 3)


@pytest.mark.parametrize(
    ("said", "cost"),
    [
        (Said(texts=["a word"], completion=Completion("stop", prompt_tokens=9, completion_tokens=2)), 2),
        (Said(texts=["six characters are two tokens"[:6]], stopped=True), 2),
        (Said(texts=["abc"], error=FailureCode.CUT), 1),
        (Said(texts=["abc"], completion=Completion("stop", prompt_tokens=9, completion_tokens=10**18)), 1),
        (Said(texts=["abc"], completion=Completion("stop", prompt_tokens=-1, completion_tokens=-1)), 1),
        (Said(error=FailureCode.RATE_LIMITED), 0),
        (Said(error=FailureCode.REFUSED_KEY), 0),
        (Said(error=FailureCode.RATE_LIMITED, was_sent=False), 0),
    ],
)
def test_what_a_call_costs_follows_from_what_came_of_it(said: Said, cost: int):
    battle = make.battle(paid_model(), make.model())
    claimed = records.claim_turn(battle.turns.get().pk)
    left, _ = records.begin_calls(claimed)
    records.store_answer(claimed, left, said)
    assert accounts()[SITE] == (0, cost)


def test_money_set_aside_for_a_turn_that_nobody_began_is_free_again():
    for _ in range(2):
        paid_model()
    actor = make.visitor()
    battle = start(actor)
    actions.stop(battle=battle)
    assert set(accounts().values()) == {(0, 0)}


def test_a_charge_is_settled_once():
    model = paid_model()
    bill = spending.bill(model, [{"role": "user", "content": "hello"}], person="")
    [charge] = spending.reserve([bill])
    for _ in range(2):
        spending.settle({charge.pk: cents(2)})
    assert accounts() == dict.fromkeys(charge.accounts, (0, 2))


def test_a_price_that_changes_meanwhile_changes_nothing_that_was_begun(fake_provider: FakeProvider, engine: Engine):
    models = [paid_model(name, at=fake_provider.base_url) for name in ("honest-a", "honest-b")]
    battle = start(make.visitor())
    for model in models:
        set_price(model, Decimal(0), A_CENT_A_TOKEN * 50)
    engine.answer(battle.turns.get().pk)
    assert accounts()[SITE] == (0, 6)


def test_a_reservation_is_never_below_what_the_prompt_can_cost():
    model = make.model(parameters={"max_tokens": 10})
    set_price(model, A_CENT_A_TOKEN, Decimal(0))
    content = "日本語と🦜🦜🦜"  # one token a byte is the worst there is
    bill = spending.bill(model, [{"role": "user", "content": content}], person="")
    assert bill.most >= cents(len(content.encode()))


@pytest.mark.parametrize("how", ["switch", "setting"])
def test_the_kill_switch_stops_every_paid_call(settings, fake_provider: FakeProvider, engine: Engine, how: str):
    paid = [paid_model(f"honest-{name}", at=fake_provider.base_url) for name in "ab"]
    queued = start(make.visitor())
    if how == "switch":
        spending.halt_paid_calls(by=make.user())
    else:
        settings.ARENA_PAID_CALLS = False
    assert paid[0].obstacle == "Calls to paid models are halted."
    with pytest.raises(TooFewModels):
        start(make.visitor())
    engine.answer(queued.turns.get().pk)
    assert fake_provider.calls == {}
    assert answer_of(queued).error == "over_budget"
    assert set(accounts().values()) == {(0, 0)}


def test_whether_models_may_be_drawn_is_asked_in_six_queries_whatever_their_number(settings):
    settings.ARENA_BUDGETS = {**settings.ARENA_BUDGETS, "site": cents(20)}
    for number in range(6):
        paid_model(at=f"http://127.0.0.1:9/{number}")
    with CaptureQueriesContext(connection) as queries:
        assert len(LanguageModel.objects.drawable()) == 6
    assert len(queries) == 5


def test_page_and_api_say_until_when_a_budget_is_used_up(settings, client):
    settings.ARENA_BUDGETS = {**settings.ARENA_BUDGETS, "visitor": cents(0)}
    for _ in range(2):
        paid_model()
    for path, body in (("/", {"prompt": "one"}), ("/api/v1/sessions/", {"prompt": "one"})):
        response = client.post(path, body, content_type="application/json" if "api" in path else MULTIPART_CONTENT)
        assert response.status_code == 429
        assert 0 < int(response.headers["Retry-After"]) <= 86_400
        assert "midnight UTC" in response.content.decode()
    assert response.json()["code"] == "budget_reached"


@pytest.mark.usefixtures("_unlimited")
def test_many_people_at_two_providers_leave_the_ledger_right(fake_provider: FakeProvider, engine: Engine, settings):
    settings.ARENA_BUDGETS = {**settings.ARENA_BUDGETS, "site": cents(10_000)}
    for number in range(4):
        at = fake_provider.base_url.replace("127.0.0.1", "localhost" if number % 2 else "127.0.0.1")
        paid_model(f"honest-{number}", at=at, cap=10)
    people = [make.visitor() for _ in range(20)]
    assert all_at_once(20, lambda: engine.answer(start(people.pop()).turns.get().pk)) == ["ok"] * 20
    assert accounts()[SITE] == (0, 20 * 6)
    of_providers = [spent for name, (_, spent) in accounts().items() if name.startswith("provider:")]
    assert (len(of_providers), sum(of_providers)) == (2, 20 * 6)
