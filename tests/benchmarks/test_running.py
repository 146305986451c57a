"""Runs on a worker's event loop, against the fake provider."""

from collections.abc import Callable
from decimal import Decimal
from functools import partial

import pytest

from battles.models import Call
from battles.worker.runner import Engine
from benchmarks import actions
from benchmarks.errors import WrongState
from benchmarks.models import ItemCall, ProviderPace, Reply, Run, RunItem, Score
from benchmarks.worker.runner import drive
from models_registry.models import Breaker, LanguageModel, Price
from models_registry.models.ledger import SITE, SpendingDay
from tests import make
from tests.benchmarks import factory
from tests.fake_provider import FakeProvider
from tests.waiting import wait_for

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]


@pytest.fixture
def drive_run(engine: Engine) -> Callable[[Run], None]:
    return lambda run: engine.run(partial(drive, run.pk), "run")


@pytest.fixture(autouse=True)
def _retries_are_due_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.worker.store._delay_s", lambda attempt, retry_after: 0.0)
    monkeypatch.setattr("benchmarks.worker.runner.IDLE_TICK_S", 0.02)
    monkeypatch.setattr("benchmarks.worker.runner.PLAN_TTL_S", 0.1)


def test_run_asks_each_item_once_and_scores_it(fake_provider: FakeProvider, drive_run: Callable[[Run], None]):
    models = [make.model(f"honest-{name}", at=fake_provider.base_url) for name in "ab"]
    run = factory.run(factory.version(20), *models, repeats=2)
    assert factory.counts(run) == {"queued": 80}
    drive_run(run)
    drive_run(run)  # a task that arrives twice
    factory.wait_until_ended(run)
    assert (run.state, factory.counts(run)) == ("done", {"scored": 80})
    assert fake_provider.calls == {"honest-a": 40, "honest-b": 40}
    assert (Call.objects.filter(purpose="item", state="done").count(), ItemCall.objects.count()) == (80, 80)
    assert (Reply.objects.count(), Score.objects.filter(value=1, passed=True).count()) == (80, 80)
    assert not RunItem.objects.exclude(score=1, passed=True, attempt=1).exists()


def test_follow_ups_see_own_answers(fake_provider: FakeProvider, drive_run: Callable[[Run], None]):
    model = make.model("honest", at=fake_provider.base_url, system_prompt="Be brief.")
    run = factory.run(factory.version(1, turns=["and {{ word }} again"]), model)
    drive_run(run)
    factory.wait_until_ended(run)
    assert [message["content"] for message in fake_provider.requests[-1]["messages"]] == [
        "Be brief.", "say word0", "say word0 ", "and word0 again",
    ]  # fmt: skip
    assert list(Reply.objects.order_by("pk").values_list("text", flat=True)) == ["say word0 ", "and word0 again "]
    assert factory.counts(run) == {"scored": 1}


@pytest.mark.parametrize(
    ("upstream", "error", "calls"),
    [
        ("status-500", "provider_error", 4),  # the provider module repeats each once
        ("status-429", "rate_limited", 4),
        ("cut-1", "cut", 2),
        ("empty", "empty", 2),
        ("status-400", "rejected", 1),
        ("html", "not_a_stream", 2),
    ],
)
def test_failing_item_ends_by_its_code(
    fake_provider: FakeProvider, drive_run: Callable[[Run], None], upstream: str, error: str, calls: int
):
    model = make.model(upstream, at=fake_provider.base_url)
    run = factory.run(factory.version(1), model, make.model("honest", at=fake_provider.base_url), attempts=2)
    drive_run(run)
    factory.wait_until_ended(run)
    assert factory.counts(run) == {"failed": 1, "scored": 1}
    assert RunItem.objects.get(state="failed").error == error
    assert fake_provider.calls[upstream] == calls
    if error == "rate_limited":
        assert not Breaker.objects.exists()
        assert ProviderPace.objects.get().allowed < 8


def test_refused_key_pauses_the_run(fake_provider: FakeProvider, drive_run: Callable[[Run], None]):
    run = factory.run(factory.version(40), make.model("status-401", at=fake_provider.base_url), concurrency=1)
    drive_run(run)
    factory.wait_until_ended(run)
    assert (run.state, run.reason) == ("paused", "refused_key")
    assert fake_provider.calls["status-401"] < 40


def test_run_of_an_inactive_model_pauses_and_says_why(
    fake_provider: FakeProvider, drive_run: Callable[[Run], None], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("benchmarks.worker.runner.MAX_STANDSTILL_S", 0.0)
    run = factory.run(factory.version(1), make.model("honest", at=fake_provider.base_url))
    LanguageModel.objects.update(status="paused")
    drive_run(run)
    factory.wait_until_ended(run)
    assert (run.state, factory.counts(run)) == ("paused", {"queued": 1})
    assert run.reason_sentence == "A model is inactive or fails all the time. Resume the run later."


def test_paused_run_goes_on_and_repeats_nothing(fake_provider: FakeProvider, drive_run: Callable[[Run], None]):
    run = factory.run(factory.version(30), make.model("slow", at=fake_provider.base_url), concurrency=4)
    drive_run(run)
    wait_for(lambda: Reply.objects.count() >= 4)
    actions.pause_run(run)
    factory.wait_until_ended(run)
    calls = fake_provider.calls["slow"]
    assert factory.counts(run) == {"scored": calls, "queued": 30 - calls}
    with pytest.raises(WrongState):
        actions.pause_run(run)
    actions.resume_run(run)
    wait_for(lambda: drive_run(run) or fake_provider.calls["slow"] > calls)
    factory.wait_until_ended(run)
    assert (factory.counts(run), fake_provider.calls["slow"]) == ({"scored": 30}, 30)


def test_cancelled_run_stops_its_calls(fake_provider: FakeProvider, drive_run: Callable[[Run], None]):
    run = factory.run(factory.version(12), make.model("patient", at=fake_provider.base_url), concurrency=4)
    drive_run(run)
    wait_for(lambda: fake_provider.calls["patient"] == 4)
    actions.cancel_run(run)
    factory.wait_until_ended(run)
    assert (run.state, factory.counts(run)) == ("cancelled", {"skipped": 12})
    assert set(Call.objects.values_list("state", flat=True)) == {"stopped"}
    fake_provider.go_on()
    actions.retry_failed(run)
    wait_for(lambda: drive_run(run) or fake_provider.calls["patient"] > 4)
    factory.wait_until_ended(run)
    assert (factory.counts(run), fake_provider.calls["patient"]) == ({"scored": 12}, 16)


def test_closing_worker_hands_items_back(fake_provider: FakeProvider, engine: Engine):
    run = factory.run(factory.version(3), make.model("patient", at=fake_provider.base_url))
    engine.run(partial(drive, run.pk), "run")
    wait_for(lambda: fake_provider.calls["patient"] == 3)
    engine.close()
    assert factory.counts(run) == {"queued": 3}
    assert set(RunItem.objects.values_list("attempt", "lease_until")) == {(0, None)}
    assert set(Call.objects.values_list("state", flat=True)) == {"lost"}


def test_run_pauses_at_its_budget_and_goes_on(fake_provider: FakeProvider, drive_run: Callable[[Run], None]):
    model = make.model("honest", at=fake_provider.base_url, parameters={"max_tokens": 10})
    Price.objects.create(model=model, input_per_million=0, output_per_million=1000)  # at most 0.01, costs 0.002
    run = factory.run(factory.version(20), model, budget="0.021")
    drive_run(run)
    factory.wait_until_ended(run)
    assert (run.state, run.reason, run.reserved) == ("paused", "budget", 0)
    done = fake_provider.calls["honest"]
    assert run.spent == done * Decimal("0.002") <= run.budget
    actions.raise_budget(run, to=Decimal("0.2"))
    actions.resume_run(run)
    wait_for(lambda: drive_run(run) or fake_provider.calls["honest"] > done)
    factory.wait_until_ended(run)
    assert (factory.counts(run), fake_provider.calls["honest"]) == ({"scored": 20}, 20)
    day = SpendingDay.objects.get(account=SITE)
    assert (run.reserved, run.spent, day.reserved, day.spent) == (0, Decimal("0.04"), 0, Decimal("0.04"))
