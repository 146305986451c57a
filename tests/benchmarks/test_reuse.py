"""Answers of earlier equal calls."""

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from functools import partial

import pytest
from django.db.models.functions import Now

from battles.models import Call
from battles.worker.runner import Engine
from benchmarks.models import Check, ItemReply, Reply, Run, Score, TemplateVersion
from benchmarks.reports.results import read_results
from benchmarks.reports.run_changes import read_changes
from benchmarks.reports.store import read_report
from benchmarks.worker.runner import drive
from models_registry.models import LanguageModel, Price
from tests import make
from tests.benchmarks import factory
from tests.fake_provider import FakeProvider

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
Ask = Callable[..., Run]


@pytest.fixture
def ask(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Run a version to its end."""
    monkeypatch.setattr("benchmarks.worker.runner.IDLE_TICK_S", 0.02)
    monkeypatch.setattr("benchmarks.worker.runner.PLAN_TTL_S", 0.1)

    def run_to_end(version: TemplateVersion, *models: LanguageModel, **options: object) -> Run:
        run = factory.run(version, *models, **options)
        engine.run(partial(drive, run.pk), "run")
        return factory.wait_until_ended(run)

    return run_to_end


def reused(run: Run) -> int:
    return ItemReply.objects.filter(item__run=run, is_reused=True).count()


def test_equal_run_is_answered_without_calls(fake_provider: FakeProvider, ask: Ask):
    model = make.model("honest", at=fake_provider.base_url)
    version = factory.version(20, turns=["and {{ word }} again"])
    first = ask(version, model, repeats=3)
    assert fake_provider.calls == {"honest": 120}  # repeats of a case are calls of their own
    second = ask(version, model, repeats=3, reuse_days=1)
    assert fake_provider.calls == {"honest": 120}
    assert (second.state, factory.counts(second), reused(second)) == ("done", {"scored": 60}, 120)
    pairs = [
        list(
            ItemReply.objects.filter(item__run=run)
            .order_by("item__case", "item__repeat", "turn")
            .values_list("turn", "reply")
        )
        for run in (first, second)
    ]
    assert pairs[0] == pairs[1]
    assert Call.objects.filter(state="waiting").count() == 0


def test_changed_call_is_made(fake_provider: FakeProvider, ask: Ask):
    model = make.model("honest", at=fake_provider.base_url)
    version = factory.version(2)
    ask(version, model)
    ask(version, model)  # not asked to reuse
    assert fake_provider.calls["honest"] == 4
    Price.objects.create(model=model, input_per_million=0, output_per_million=0)
    assert reused(ask(version, model, reuse_days=1)) == 2
    LanguageModel.objects.filter(pk=model.pk).update(system_prompt="Be brief.")
    assert reused(ask(version, model, reuse_days=1)) == 0
    LanguageModel.objects.filter(pk=model.pk).update(parameters={"temperature": 0.5})
    assert reused(ask(version, model, reuse_days=1)) == 0
    Reply.objects.update(created_at=Now() - timedelta(days=2))
    assert reused(ask(version, model, reuse_days=1)) == 0
    assert reused(ask(version, model, reuse_days=3)) == 2


def test_failures_and_answers_to_others_are_not_reused(fake_provider: FakeProvider, ask: Ask):
    model, failing = (make.model(name, at=fake_provider.base_url) for name in ("honest", "status-400"))
    version = factory.version(2)
    ask(version, model, failing)
    calls = dict(fake_provider.calls)
    again = ask(version, model, failing, reuse_days=1)
    assert (reused(again), factory.counts(again)) == (2, {"scored": 2, "failed": 2})
    assert fake_provider.calls["status-400"] == 2 * calls["status-400"]
    version.template.owner_user = make.user()
    version.template.save()
    assert reused(ask(version, model, reuse_days=1)) == 0


def test_reused_answers_cost_nothing_and_have_no_times(fake_provider: FakeProvider, ask: Ask):
    model = make.model("honest", at=fake_provider.base_url, parameters={"max_tokens": 10})
    Price.objects.create(model=model, input_per_million=0, output_per_million=1000)
    version = factory.version(2)
    Check.objects.create(version=version, key="quick", position=1, scorer="latency", settings={"max_ms": 60_000})
    first, second = ask(version, model, budget="1"), ask(version, model, budget="1", reuse_days=1)
    assert (first.spent, second.spent) == (Decimal("0.004"), 0)
    assert set(Score.objects.filter(item__run=second, check_key="quick").values_list("error")) == {("not_measured",)}
    assert set(second.items.values_list("score", "passed")) == {(1.0, True)}
    [usage] = read_report(second).usage
    assert (usage.cost, usage.reused, usage.total_p50.value) == (0, 2, None)
    sentence = "2 answers are of earlier runs: here they cost nothing, instead of $0.0040."
    assert sentence in read_results(second).warnings
    assert read_changes(second, first).reused_cases == 2
