"""Runs that pause by themselves, and go on."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial

import pytest
from django.utils import timezone

from battles.worker.runner import Engine
from benchmarks import actions
from benchmarks.models import Run
from benchmarks.sweep import sweep
from benchmarks.worker import claims, plan, progress
from benchmarks.worker.claims import Claim
from benchmarks.worker.runner import drive
from models_registry.models import Budget, LanguageModel, PaidCallsHalt, Price
from tests import make
from tests.benchmarks import factory
from tests.fake_provider import FakeProvider
from tests.waiting import wait_for

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]


def paid_model(upstream: str = "honest", **fields: str) -> LanguageModel:
    """Create a model whose call reserves 0.01 dollars, and costs 0.002."""
    model = make.model(upstream, parameters={"max_tokens": 10}, **fields)
    Price.objects.create(model=model, input_per_million=0, output_per_million=1000)
    return model


def claim(run: Run) -> Claim:
    read = plan.read_plan(run.pk)
    return claims.claim_items(run.pk, read.entrants, wanted=dict.fromkeys(read.shares, 16), paces=read.paces)


@pytest.mark.parametrize(
    ("budget", "spend", "reason"),
    [
        ("0.01", lambda: Run.objects.update(spent=Decimal("0.001")), "budget"),
        ("1", lambda: Budget.objects.create(whose="site", dollars=Decimal("0.009")), "day_budget"),
        ("1", lambda: PaidCallsHalt.objects.create(), "paid_calls_halted"),
    ],
    ids=["budget", "day budget", "halt"],
)
def test_unaffordable_claim_names_its_reason(budget: str, spend: Callable[[], object], reason: str):
    run = factory.run(factory.version(2), paid_model(), budget=budget)
    spend()
    found = claim(run)
    assert (found.items, found.pause_reason) == ([], reason)


def test_run_without_a_days_budget_goes_on_after_midnight():
    run = factory.run(factory.version(1), paid_model(), budget="1")
    assert progress.pause(run.pk, "day_budget", run.paced_from)
    run.refresh_from_db()
    midnight = datetime.combine(timezone.now().date() + timedelta(days=1), datetime.min.time(), UTC)
    assert abs(run.day_wait_until - midnight) < timedelta(minutes=1)
    sweep()
    assert Run.objects.get().state == "paused"
    Run.objects.update(day_wait_until=timezone.now())
    sweep()
    run.refresh_from_db()
    assert (run.state, run.reason, run.day_wait_until) == ("running", "", None)


def test_run_resumed_during_a_claim_is_not_paused(
    fake_provider: FakeProvider, engine: Engine, monkeypatch: pytest.MonkeyPatch
):
    """A claim finds the budget spent; before the driver pauses the run, it was paused, paid for and resumed."""
    monkeypatch.setattr("benchmarks.worker.runner.IDLE_TICK_S", 0.02)
    monkeypatch.setattr("benchmarks.worker.runner.PLAN_TTL_S", 0.1)
    run = factory.run(factory.version(2), paid_model(at=fake_provider.base_url), budget="0.01")
    claim_items, pause, paused = claims.claim_items, progress.pause, list[bool]()

    def claim_and_resume(run_id: int, *arguments: object, **options: object) -> Claim:
        found = claim_items(run_id, *arguments, **options)
        if found.pause_reason and not paused:
            actions.pause_run(run)
            actions.raise_budget(run, to=Decimal(1))
            actions.resume_run(run)
        return found

    monkeypatch.setattr(claims, "claim_items", claim_and_resume)
    monkeypatch.setattr(progress, "pause", lambda *arguments: paused.append(pause(*arguments)))
    engine.run(partial(drive, run.pk), "run")
    wait_for(lambda: paused)
    assert (factory.wait_until_ended(run).state, paused) == ("done", [False])


def test_only_calls_to_free_models_are_stopped_for_people():
    free, paid = make.model(at="http://127.0.0.1:8/v1"), paid_model()
    for model in (free, paid):
        model.provider.calls_at_once = 1
        model.provider.save()
    run = factory.run(factory.version(1), free, paid, budget="1")
    assert plan.read_plan(run.pk).preemptible == {free.provider_id}
