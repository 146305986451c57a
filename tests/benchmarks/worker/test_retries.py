"""Failed calls, asked again by the run and by its owner."""

from collections.abc import Callable
from functools import partial

import pytest

from battles.worker.runner import Engine
from benchmarks import actions
from benchmarks.errors import WrongState
from benchmarks.models import Reply, Run, RunItem
from benchmarks.reports.store import read_report
from benchmarks.worker import store
from benchmarks.worker.runner import drive
from models_registry.models import LanguageModel
from models_registry.providers import FailureCode
from tests import make
from tests.benchmarks import factory
from tests.fake_provider import FakeProvider
from tests.waiting import wait_for

TWICE = {"empty", "only_reasoning", "no_room"}
FINAL = {"rejected", "prompt_too_long", "filtered", "answer_too_long", "tool_calls", "over_budget"}
AGAIN = {
    "unreachable", "rate_limited", "provider_error", "cut", "first_timeout", "idle_timeout", "total_timeout",
    "not_a_stream", "malformed", "interrupted", "refused_key", "no_key",
}  # fmt: skip


@pytest.mark.parametrize("error", sorted(TWICE | FINAL | AGAIN))
def test_error_decides_how_often_an_item_is_asked(error: str):
    asked = next(number for number in range(1, 6) if not store.may_retry(FailureCode(error), number, 5))
    assert asked == (2 if error in TWICE else 1 if error in FINAL else 5)


def test_next_attempt_waits_as_the_provider_asks():
    assert 0.75 * 2 <= store._delay_s(1, None) <= 1.25 * 2
    assert 0.75 * 8 <= store._delay_s(3, None) <= 1.25 * 8
    assert all(100 <= store._delay_s(1, 100) <= 1.25 * 100 for _ in range(50))


@pytest.fixture
def finish(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Callable[[Run], Run]:
    monkeypatch.setattr("benchmarks.worker.runner.IDLE_TICK_S", 0.02)
    monkeypatch.setattr("benchmarks.worker.runner.PLAN_TTL_S", 0.1)

    def drive_until_done(run: Run) -> Run:
        wait_for(lambda: engine.run(partial(drive, run.pk), "run") or Run.objects.get(pk=run.pk).state == "done")
        return factory.wait_until_ended(run)

    return drive_until_done


@pytest.mark.processes
@pytest.mark.django_db(transaction=True)
def test_retry_asks_only_what_failed(fake_provider: FakeProvider, finish: Callable[[Run], Run]):
    models = [make.model(name, at=fake_provider.base_url) for name in ("honest", "status-400")]
    run = finish(factory.run(factory.version(3), *models))
    first = read_report(run)
    with_failures = fake_provider.calls.copy()
    LanguageModel.objects.filter(pk=models[1].pk).update(upstream_name="honest-now")
    finish(actions.retry_failed(run))
    assert factory.counts(run) == {"scored": 6}
    assert fake_provider.calls - with_failures == {"honest-now": 3}
    assert (read_report(run, 1), run.reports.count()) == (first, 2)
    assert [mean.scored for mean in read_report(run).metrics[0].means] == [3, 3]


@pytest.mark.processes
@pytest.mark.django_db(transaction=True)
def test_failed_follow_up_is_asked_alone(fake_provider: FakeProvider, finish: Callable[[Run], Run]):
    model = make.model("judges", at=fake_provider.base_url)
    run = finish(factory.run(factory.version(1, turns=["bad {{ word }}"]), model))
    assert factory.counts(run) == {"failed": 1}
    LanguageModel.objects.update(upstream_name="honest")
    finish(actions.retry_failed(run))
    assert (factory.counts(run), fake_provider.calls) == ({"scored": 1}, {"judges": 2, "honest": 1})
    assert list(Reply.objects.order_by("pk").values_list("text", flat=True)) == ["say word0 ", "bad word0 "]


@pytest.mark.processes
@pytest.mark.django_db(transaction=True)
def test_retry_leaves_cases_that_are_too_long():
    run = factory.run(factory.version(2, template="say {{ word }}" + " more" * 400), make.model(context_length=20))
    assert factory.counts(run) == {"failed": 2}
    Run.objects.update(state="done")
    with pytest.raises(WrongState, match="Nothing failed"):
        actions.retry_failed(run)
    assert set(RunItem.objects.values_list("error", flat=True)) == {"prompt_too_long"}
