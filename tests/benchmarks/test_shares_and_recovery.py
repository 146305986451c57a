"""Shares between runs, learned pace, lost workers, budgets under a race, and people first."""

import threading
from datetime import timedelta
from decimal import Decimal
from functools import partial

import pytest
from django.db import connection, transaction
from django.utils import timezone

from battles.models import Call
from battles.worker.runner import Engine
from benchmarks.models import ItemCall, ProviderPace, Run, RunItem
from benchmarks.sweep import sweep
from benchmarks.worker import claims, pace, plan
from benchmarks.worker.fairness import max_min_shares
from benchmarks.worker.pace import Observed
from benchmarks.worker.runner import drive
from models_registry.models import Budget, Price
from models_registry.models.ledger import SITE, SpendingDay
from tests import make
from tests.benchmarks import factory
from tests.fake_provider import FakeProvider
from tests.waiting import wait_for

pytestmark = pytest.mark.slow

database = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize(
    ("room", "demands", "shares"),
    [
        (10, {1: 100, 2: 3}, {1: 7, 2: 3}),
        (10, {1: 100, 2: 100, 3: 1}, {1: 5, 2: 4, 3: 1}),
        (2, {1: 5, 2: 5, 3: 5}, {1: 1, 2: 1, 3: 0}),
        (0, {1: 5}, {1: 0}),
    ],
)
def test_shares_are_max_min_fair(room: int, demands: dict[int, int], shares: dict[int, int]):
    assert max_min_shares(room, demands) == shares


@database
def test_pace_halves_once_per_burst_and_recovers_slowly():
    provider = make.model().provider_id
    pace.observe({provider: Observed(answers=4)}, known={})
    assert pace.read_paces([provider]) == {provider: 12}  # each answer, before the first refusal
    pace.observe({provider: Observed(refusals=3)}, known={})
    pace.observe({provider: Observed(refusals=3)}, known={})
    assert pace.read_paces([provider]) == {provider: 6}
    for _ in range(4):
        pace.observe({provider: Observed(answers=10)}, known={})
    assert pace.read_paces([provider]) == {provider: 8}
    ProviderPace.objects.update(halved_at=timezone.now() - timedelta(seconds=6))
    pace.observe({provider: Observed(refusals=1, retry_after=60)}, known={})
    assert (pace.read_paces([provider]), ProviderPace.objects.get().allowed) == ({provider: 0}, 4)


def claim(run: Run, number: int = 16) -> list[claims.ClaimedItem]:
    seen = plan.read_plan(run.pk)
    return claims.claim_items(run.pk, seen.entrants, wanted=dict.fromkeys(seen.shares, number), paces=seen.paces).items


@database
def test_lost_worker_is_charged_and_its_items_requeued():
    model = make.model(parameters={"max_tokens": 10})
    Price.objects.create(model=model, input_per_million=0, output_per_million=1000)
    run = factory.run(factory.version(5), model, budget="1", concurrency=2, attempts=2)
    assert len(claim(run)) == 2
    for lost in (1, 2):
        RunItem.objects.filter(state="answering").update(lease_until=timezone.now() - timedelta(seconds=1))
        Call.objects.filter(state="running").update(lease_until=timezone.now() - timedelta(seconds=1))
        sweep()
        sweep()
        run.refresh_from_db()
        assert (run.reserved, run.spent) == (0, lost * Decimal("0.02"))
        RunItem.objects.filter(state="queued", attempt=0).update(state="skipped")
        claim(run)
    assert factory.counts(run) == {"failed": 2, "skipped": 3}
    assert set(Call.objects.values_list("state", "cost")) == {("lost", Decimal("0.01"))}
    assert (ItemCall.objects.count(), SpendingDay.objects.get(account=SITE).reserved) == (4, 0)


@database
def test_concurrency_is_exact_with_two_workers():
    run = factory.run(factory.version(60), make.model(), concurrency=20)
    ProviderPace.objects.create(provider=make.model().provider, allowed=200)

    def work() -> None:
        try:
            for _ in range(3):
                claim(run)
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert factory.counts(run) == {"answering": 20, "queued": 40}
    assert ItemCall.objects.count() == Call.objects.holding_slots().count() == 20


@database
def test_race_of_runs_stays_within_every_budget(settings):
    settings.ARENA_RUNS = {"member": 3, "site": 100}
    Budget.objects.create(whose="site", dollars=Decimal("0.5"))
    model = make.model(parameters={"max_tokens": 10})
    Price.objects.create(model=model, input_per_million=0, output_per_million=1000)  # at most 0.01 a call
    ProviderPace.objects.create(provider=model.provider, allowed=200)
    settings.ARENA_BACKGROUND_CALLS = 200
    runs = [factory.run(factory.version(20), model, budget="0.085") for _ in range(8)]

    def work(run: Run) -> None:
        try:
            claim(run)
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=[run]) for run in runs for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    reserved = list(Run.objects.values_list("reserved", flat=True))
    assert max(reserved) <= Decimal("0.08")
    assert SpendingDay.objects.get(account=SITE).reserved == sum(reserved) <= Decimal("0.5")
    assert Call.objects.count() * Decimal("0.01") == sum(reserved)


@database
def test_waiting_person_stops_a_free_call(fake_provider: FakeProvider, engine: Engine, monkeypatch: pytest.MonkeyPatch):
    model = make.model("patient", at=fake_provider.base_url)
    model.provider.calls_at_once = 2
    model.provider.save()
    run = factory.run(factory.version(3), model)
    engine.run(partial(drive, run.pk), "run")
    wait_for(lambda: fake_provider.calls["patient"] == 1)  # one slot stays free
    other = make.model("patient", at=fake_provider.base_url)
    turn = make.battle(model, other).turns.get()
    answers = threading.Thread(target=engine.answer, args=[turn.pk])
    answers.start()
    wait_for(lambda: fake_provider.calls["patient"] == 3)  # both sides: the item's call was stopped
    assert RunItem.objects.get(preempted=1).attempt == 0
    fake_provider.go_on()
    answers.join()
    assert set(Call.objects.filter(purpose="answer").values_list("state", "error")) == {("done", "")}
    factory.wait_until_ended(run)
    assert factory.counts(run) == {"scored": 3}


@database
def test_transaction_that_fails_leaves_counts_right():
    run = factory.run(factory.version(4), make.model())
    with transaction.atomic():
        claim(run)
        transaction.set_rollback(True)
    assert factory.counts(run) == {"queued": 4}
    assert not Call.objects.exists()
