"""Failures of a run's calls belong to its owner, and to one conversation."""

from functools import partial

import pytest
from django.utils import timezone

from battles.worker.runner import Engine
from benchmarks.models import Run, TemplateVersion
from benchmarks.worker.runner import drive
from models_registry import breaker_rule
from models_registry.breaker_rule import BY_PEOPLE
from models_registry.models import Breaker, Inquiry, LanguageModel
from tests import make
from tests.benchmarks import factory
from tests.fake_provider import FakeProvider

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]


def answer_run(engine: Engine, version: TemplateVersion, model: LanguageModel) -> Run:
    run = factory.run(version, model, attempts=1)
    engine.run(partial(drive, run.pk), "run")
    return factory.wait_until_ended(run)


def ask_due(engine: Engine) -> int:
    due = list(Inquiry.objects.due().values_list("pk", flat=True))
    for pk in due:
        engine.probe(pk)
    return len(due)


def test_cleared_owner_of_a_run_starts_no_further_question(fake_provider: FakeProvider, engine: Engine):
    model, version = make.model("judges", at=fake_provider.base_url), factory.version(8, template="bad {{ word }}")
    calls = []
    for _ in range(2):
        answer_run(engine, version, model)
        calls.append(ask_due(engine))
        Inquiry.objects.update(asked_at=None)
    assert calls == [1, 0]
    assert (Inquiry.objects.get().cleared, Breaker.objects.get().probe_at) == (1, None)


def test_outage_in_a_run_needs_no_question(fake_provider: FakeProvider, engine: Engine):
    answer_run(engine, factory.version(3), make.model("status-503", at=fake_provider.base_url))
    assert Inquiry.objects.get().due_at is None
    assert Breaker.objects.get().recent == "ddd"


def test_answered_item_reopens_a_model_that_people_closed(fake_provider: FakeProvider, engine: Engine):
    model = make.model("honest", at=fake_provider.base_url)
    Breaker.objects.create(model=model, opened_at=timezone.now(), probe_at=timezone.now(), recent=BY_PEOPLE)
    answer_run(engine, factory.version(1), model)
    assert Breaker.objects.values_list("recent", "probe_at").get() == ("", None)


def test_run_is_one_conversation_among_people(
    fake_provider: FakeProvider, engine: Engine, monkeypatch: pytest.MonkeyPatch
):
    """Its owner is the only person of today, and twelve failed items close nothing."""
    monkeypatch.setattr(breaker_rule, "cooldown_s", lambda openings, retry_after: 0.01)  # between the items
    monkeypatch.setattr("benchmarks.worker.runner.IDLE_TICK_S", 0.02)
    monkeypatch.setattr("benchmarks.worker.runner.PLAN_TTL_S", 0.1)
    model = make.model("judges", at=fake_provider.base_url)
    answer_run(engine, factory.version(12, template="bad {{ word }}"), model)
    ask_due(engine)
    assert Breaker.objects.get().probe_at is None
    assert len(Inquiry.objects.get().failures) == 1
