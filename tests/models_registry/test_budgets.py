import threading
from collections.abc import Callable

import pytest
from django.db import connection
from django.test.client import MULTIPART_CONTENT
from django.test.utils import CaptureQueriesContext

from accounts.actor import Actor
from accounts.models import AuditEntry
from battles import actions
from battles.errors import BudgetReached, ModelsOverBudget, TooFewModels
from battles.models import Answer, Battle
from battles.worker.runner import Engine
from common.errors import ArenaError
from models_registry import spending
from models_registry.models import Budget, LanguageModel, SpendingDay, budgets
from models_registry.models.ledger import SITE, person_account, provider_account, today
from tests import make
from tests.fake_provider import FakeProvider
from tests.models_registry.paid_models import accounts, cents, paid_model, start

pytestmark = pytest.mark.django_db(transaction=True)


def run_concurrently(times: int, act: Callable[[], object]) -> list[str]:
    """Run `act` in concurrent threads; return "ok" or the refusal's code of each, sorted."""
    outcomes = []

    def run() -> None:
        try:
            act()
            outcomes.append("ok")
        except ArenaError as refusal:
            outcomes.append(refusal.code)
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(times)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(outcomes)


@pytest.fixture
def _unlimited(settings):
    settings.ARENA_LIMITS = dict.fromkeys(settings.ARENA_LIMITS, "off")


@pytest.mark.usefixtures("_unlimited")
def test_concurrent_battles_stay_below_personal_budget(settings):
    settings.ARENA_BUDGETS = {**settings.ARENA_BUDGETS, "visitor": cents(20)}
    for _ in range(3):
        paid_model()
    actor = make.visitor()
    outcomes = run_concurrently(50, lambda: start(actor))
    assert outcomes == ["budget_reached"] * 47 + ["ok"] * 3  # 6 cents each
    assert accounts()[person_account(actor.key)] == (18, 0)


@pytest.mark.slow
@pytest.mark.usefixtures("_unlimited")
def test_concurrent_people_stay_below_site_budget(settings):
    settings.ARENA_BUDGETS = {**settings.ARENA_BUDGETS, "site": cents(20)}
    for _ in range(3):
        paid_model()
    people = [make.visitor() for _ in range(50)]
    assert run_concurrently(50, lambda: start(people.pop())) == ["models_over_budget"] * 47 + ["ok"] * 3
    assert accounts()[SITE] == (18, 0)


@pytest.mark.usefixtures("_unlimited")
def test_models_of_provider_over_budget_are_not_drawn():
    dear, free = [paid_model(at="http://127.0.0.1:9/dear") for _ in range(2)], [make.model() for _ in range(2)]
    dear[0].provider.daily_budget = cents(7)
    dear[0].provider.save()
    people = [make.visitor() for _ in range(30)]
    assert run_concurrently(30, lambda: start(people.pop())) == ["ok"] * 30
    assert accounts()[provider_account(dear[0].provider_id)] == (6, 0)
    SpendingDay.objects.update(spent=cents(7))
    assert LanguageModel.objects.drawable() == free
    assert dear[0].unavailable_reason == "Its provider's budget for today is used up."


def test_budget_below_most_expensive_pair_is_refused(settings):
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


def test_members_and_visitors_have_separate_budgets(settings):
    settings.ARENA_BUDGETS = {**settings.ARENA_BUDGETS, "visitor": cents(1), "member": cents(100)}
    paid_model()
    paid_model()
    with pytest.raises(BudgetReached):
        start(make.visitor())
    assert start(make.member())


def test_follow_up_over_budget_is_refused(settings):
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


def test_kill_switch_stops_paid_calls(fake_provider: FakeProvider, engine: Engine):
    paid = [paid_model(f"honest-{name}", at=fake_provider.base_url) for name in "ab"]
    queued = start(make.visitor())
    spending.halt_paid_calls(by=make.user())
    assert paid[0].unavailable_reason == "Calls to paid models are halted."
    with pytest.raises(TooFewModels):
        start(make.visitor())
    engine.answer(queued.turns.get().pk)
    assert fake_provider.calls == {}
    assert Answer.objects.get(side__position="left").error == "over_budget"
    assert set(accounts().values()) == {(0, 0)}


def test_drawable_models_take_fixed_query_count(settings):
    settings.ARENA_BUDGETS = {**settings.ARENA_BUDGETS, "site": cents(20)}
    for number in range(6):
        paid_model(at=f"http://127.0.0.1:9/{number}")
    budgets.chosen()  # cached for seconds
    with CaptureQueriesContext(connection) as queries:
        assert len(LanguageModel.objects.drawable()) == 6
    assert len(queries) == 5


def test_exhausted_budget_returns_429_with_retry_after(settings, client):
    settings.ARENA_BUDGETS = {**settings.ARENA_BUDGETS, "visitor": cents(0)}
    for _ in range(2):
        paid_model()
    for path, body in (("/", {"prompt": "one"}), ("/api/v1/sessions/", {"prompt": "one"})):
        response = client.post(path, body, content_type="application/json" if "api" in path else MULTIPART_CONTENT)
        assert response.status_code == 429
        assert 0 < int(response.headers["Retry-After"]) <= 86_400
        assert "midnight UTC" in response.content.decode()
    assert response.json()["code"] == "budget_reached"


WAYS_TO_BATTLE: dict[str, dict[str, object]] = {
    "blind": {"mode": "blind"},
    "narrowed": {"mode": "blind", "filters": {"license_kind": "proprietary"}},
    "partner-drawn": {"mode": "side_by_side", "models": ["free"]},
    "side-by-side": {"mode": "side_by_side", "models": ["free", "paid0"]},
    "compare": {"mode": "compare", "models": ["paid0", "free", "paid1"]},
    "direct": {"mode": "direct", "models": ["paid0"]},
}


@pytest.fixture(params=["spent", "nearly spent"])
def _models_over_budget(request: pytest.FixtureRequest, settings) -> None:
    """Create a free model and three paid ones at two providers with an exhausted site budget."""
    settings.ARENA_BUDGETS = {**settings.ARENA_BUDGETS, "site": cents(20)}
    make.model(slug="free", license_kind="proprietary")
    for number in range(3):
        model = paid_model(at=f"http://127.0.0.1:9/{number % 2}")
        model.slug, model.license_kind = f"paid{number}", "proprietary"
        model.save()
    remaining = 0 if request.param == "spent" else 1  # less than the maximum cost of any call
    SpendingDay.objects.create(day=today(), account=SITE, spent=cents(20 - remaining))


@pytest.mark.usefixtures("_models_over_budget", "_unlimited")
def test_exhausted_site_budget_is_the_reason_of_a_refusal(client):
    for way, wish in WAYS_TO_BATTLE.items():
        response = client.post("/api/v1/sessions/", {"prompt": "one", **wish}, content_type="application/json")
        assert (way, response.status_code, response.json()["code"]) == (way, 503, "models_over_budget")
        assert 0 < int(response.headers["Retry-After"]) <= 86_400
        page = client.post("/", {"prompt": "one", **wish}, headers={"HX-Request": "true"})
        assert (way, page.status_code) == (way, 503)
        assert "budget for" in page.content.decode()
    assert not Battle.objects.exists()


def test_exhausted_provider_budget_is_the_reason_of_a_refusal():
    make.model()
    model = paid_model()
    model.provider.daily_budget = cents(0)
    model.provider.save()
    with pytest.raises(ModelsOverBudget):
        start(make.visitor())


def test_models_missing_for_other_reasons_are_too_few(settings):
    settings.ARENA_BUDGETS = {**settings.ARENA_BUDGETS, "site": cents(0)}
    paid_model()
    make.model(status="paused")
    with pytest.raises(TooFewModels):
        start(make.visitor())


@pytest.mark.slow
@pytest.mark.usefixtures("_unlimited")
def test_concurrent_calls_leave_the_ledger_consistent(fake_provider: FakeProvider, engine: Engine, settings):
    settings.ARENA_BUDGETS = {**settings.ARENA_BUDGETS, "site": cents(10_000)}
    for number in range(4):
        at = fake_provider.base_url.replace("127.0.0.1", "localhost" if number % 2 else "127.0.0.1")
        paid_model(f"honest-{number}", at=at, cap=10)
    people = [make.visitor() for _ in range(20)]
    assert run_concurrently(20, lambda: engine.answer(start(people.pop()).turns.get().pk)) == ["ok"] * 20
    assert accounts()[SITE] == (0, 20 * 6)
    of_providers = [spent for name, (_, spent) in accounts().items() if name.startswith("provider:")]
    assert (len(of_providers), sum(of_providers)) == (2, 20 * 6)


def outcome(actor: Actor) -> str:
    return run_concurrently(1, lambda: start(actor))[0]


def test_chosen_budget_replaces_the_setting_at_once(settings, client, administrator):
    settings.ARENA_BUDGETS = {"visitor": None, "member": cents(500), "site": None}
    for _ in range(2):
        paid_model()
    client.force_login(administrator)
    page, member = "/admin/models_registry/budget/", make.member()
    for dollars in ("-1", "much", "1e20", "0.001"):
        assert client.post(f"{page}add/", {"whose": "member", "dollars": dollars}).status_code == 200
    assert client.post(f"{page}add/", {"whose": "member", "dollars": "0"}).status_code == 302
    assert (outcome(member), outcome(make.visitor())) == ("budget_reached", "ok")
    row = f"{page}{Budget.objects.get().pk}"
    assert "$5" in client.get(f"{row}/change/").text
    client.post(f"{row}/change/", {"dollars": ""})
    assert outcome(member) == "ok"
    client.post(f"{page}add/", {"whose": "site", "dollars": "0.01"})
    assert outcome(member) == "models_over_budget"
    client.post(f"{page}{Budget.objects.get(whose='site').pk}/delete/", {"post": "yes"})
    assert outcome(member) == "ok"
    assert list(AuditEntry.objects.order_by("pk").values_list("action", "subject", "details")) == [
        ("add budget", "member", {"dollars": "0"}), ("change budget", "member", {"dollars": None}),
        ("add budget", "site", {"dollars": "0.01"}), ("delete budget", "site", {}),
    ]  # fmt: skip
