"""Runs with a model that refuses its key, hangs, is away or answers nothing: it concerns that entrant alone."""

import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial

import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import AuditEntry
from battles.models import Call
from battles.worker.runner import Engine
from benchmarks import actions
from benchmarks.errors import WrongState
from benchmarks.models import Entrant, ProviderPace, Run, RunItem, entrant_calls
from benchmarks.queries.run_progress import read_run_progress
from benchmarks.reports.store import read_report
from benchmarks.sweep import sweep
from benchmarks.worker import claims, plan, progress
from benchmarks.worker.runner import drive
from models_registry import breaker_rule
from models_registry.models import Breaker, LanguageModel, Price, Provider
from tests import make
from tests.benchmarks import factory
from tests.fake_provider import FakeProvider
from tests.waiting import wait_for

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]


@pytest.fixture
def drive_run(engine: Engine) -> Callable[[Run], None]:
    return lambda run: engine.run(partial(drive, run.pk), "run")


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.worker.store._delay_s", lambda attempt, retry_after: 0.0)
    monkeypatch.setattr("benchmarks.worker.runner.IDLE_TICK_S", 0.02)
    monkeypatch.setattr("benchmarks.worker.runner.PLAN_TTL_S", 0.1)


@pytest.fixture
def _cooldowns_end_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(breaker_rule, "cooldown_s", lambda openings, retry_after: 0.01)


def entrant(run: Run, upstream: str) -> Entrant:
    return run.entrants.select_related("model", "prompt").get(model__upstream_name=upstream)


def states(run: Run, upstream: str) -> dict[str, int]:
    return {count.state: count.n for count in entrant(run, upstream).counts.filter(n__gt=0)}


def waits(run: Run) -> list[str]:
    run.refresh_from_db()
    return read_run_progress(run).waits


def test_refused_key_stops_its_entrant_alone(fake_provider: FakeProvider, drive_run: Callable[[Run], None]):
    models = [make.model(name, at=fake_provider.base_url, name=name) for name in ("status-401", "honest")]
    run = factory.run(factory.version(40), *models, concurrency=4)
    drive_run(run)
    factory.wait_until_ended(run)
    assert (run.state, run.reason) == ("paused", "refused_key")
    assert states(run, "honest") == {"scored": 40}
    assert fake_provider.calls["status-401"] < 9
    [sentence] = waits(run)
    assert "status-401 failed" in sentence
    assert "Nothing more is asked until the run is resumed." in sentence
    actions.leave_out(run, entrant(run, "status-401"), by=run.owner)
    wait_for(lambda: drive_run(run) or Run.objects.get(pk=run.pk).state == "done")
    assert states(run, "status-401") == {"left_out": 40}
    assert read_report(run).ranks[0].entrant == "001"


def test_mended_key_goes_on_without_lost_items(fake_provider: FakeProvider, drive_run: Callable[[Run], None]):
    run = factory.run(factory.version(9), make.model("status-401", at=fake_provider.base_url), concurrency=2)
    drive_run(run)
    factory.wait_until_ended(run)
    LanguageModel.objects.update(upstream_name="honest")
    actions.resume_run(run)
    wait_for(lambda: drive_run(run) or Run.objects.get(pk=run.pk).state == "done")
    assert factory.counts(run) == {"scored": 9}
    assert run.entrants.get().failures == 0


def test_run_resumed_at_once_is_not_paused_again(
    fake_provider: FakeProvider, drive_run: Callable[[Run], None], monkeypatch: pytest.MonkeyPatch
):
    run = factory.run(factory.version(9), make.model("status-401", at=fake_provider.base_url), concurrency=2)
    pause, paused = progress.pause, []

    def pause_and_resume(run_id: int, reason: str, paced_from: datetime | None) -> bool:
        paused.append(pause(run_id, reason, paced_from))
        if paused[-1]:
            LanguageModel.objects.update(upstream_name="honest")
            actions.resume_run(Run.objects.get(pk=run_id))
        return paused[-1]

    monkeypatch.setattr(progress, "pause", pause_and_resume)
    drive_run(run)
    wait_for(lambda: paused and (drive_run(run) or Run.objects.get(pk=run.pk).state == "done"))
    assert sum(paused) == 1
    assert factory.counts(run) == {"scored": 9}


@pytest.mark.usefixtures("_cooldowns_end_at_once")
@pytest.mark.parametrize("upstream", ["status-500", "empty", "cut-1"])
def test_failing_model_holds_up_no_other(
    fake_provider: FakeProvider, drive_run: Callable[[Run], None], monkeypatch: pytest.MonkeyPatch, upstream: str
):
    monkeypatch.setattr(entrant_calls, "MAX_AWAY", timedelta(0))
    models = [make.model(name, at=fake_provider.base_url) for name in (upstream, "honest")]
    run = factory.run(factory.version(12), *models, concurrency=4)
    drive_run(run)
    factory.wait_until_ended(run)
    assert (run.state, run.reason) == ("paused", "models_away")
    assert states(run, "honest") == {"scored": 12}
    actions.leave_out(run, entrant(run, upstream), by=run.owner)
    wait_for(lambda: drive_run(run) or Run.objects.get(pk=run.pk).state == "done")
    assert states(run, upstream)["left_out"] > 0


def test_failing_entrant_is_tried_again_later(fake_provider: FakeProvider, drive_run: Callable[[Run], None]):
    models = [make.model(name, at=fake_provider.base_url, name=name) for name in ("status-500", "honest")]
    run = factory.run(factory.version(20), *models, concurrency=2)
    drive_run(run)
    wait_for(lambda: states(run, "honest") == {"scored": 20} and entrant(run, "status-500").next_try_at)
    failures = entrant(run, "status-500").failures
    [sentence] = waits(run)
    assert sentence.startswith(f"{failures} of this run’s calls to status-500 failed in a row: The provider reported")
    assert "The next try is at" in sentence
    progress, standing = read_run_progress(run), [entrant(run, "status-500")]
    assert (run.state, progress.minutes_left, progress.standing_still) == ("running", None, standing)
    LanguageModel.objects.filter(upstream_name="status-500").update(upstream_name="honest-now")
    Entrant.objects.update(next_try_at=timezone.now())
    factory.wait_until_ended(run)
    assert (run.state, factory.counts(run)) == ("done", {"scored": 40})
    assert waits(run) == []


def test_left_out_entrants_calls_are_stopped(fake_provider: FakeProvider, drive_run: Callable[[Run], None]):
    models = [make.model(name, at=fake_provider.base_url, name=name) for name in ("patient", "honest")]
    Price.objects.create(model=models[0], input_per_million=0, output_per_million=1000)
    run = factory.run(factory.version(6), *models, concurrency=4, budget="100", repeats=2)
    drive_run(run)
    wait_for(lambda: fake_provider.calls["patient"] == 4 or states(run, "honest") == {"scored": 12})
    assert Run.objects.get(pk=run.pk).reserved > 0
    actions.leave_out(run, entrant(run, "patient"), by=run.owner)
    factory.wait_until_ended(run)
    assert (run.state, run.reserved) == ("done", 0)
    assert factory.counts(run) == {"left_out": 12, "scored": 12}
    assert set(Call.objects.filter(model=models[0]).values_list("state", flat=True)) == {"stopped"}
    with pytest.raises(WrongState):
        actions.retry_failed(run)


def test_run_without_entrants_left_ends(fake_provider: FakeProvider, drive_run: Callable[[Run], None]):
    models = [make.model(name, at=fake_provider.base_url) for name in ("patient", "hang-after-1")]
    run = factory.run(factory.version(2), *models)
    drive_run(run)
    wait_for(lambda: fake_provider.calls.total() == 4)
    for entrant in run.entrants.all():
        actions.leave_out(run, entrant, by=run.owner)
    factory.wait_until_ended(run)
    assert (run.state, factory.counts(run)) == ("done", {"left_out": 4})
    assert [mean.scored for mean in read_report(run).metrics[0].means] == [0, 0]


def test_lost_workers_items_of_left_out_entrant_end():
    run = factory.run(factory.version(3), make.model("honest"))
    seen = plan.read_plan(run.pk)
    claims.claim_items(run.pk, seen.entrants, wanted=dict.fromkeys(seen.shares, 2), paces=seen.paces)
    actions.leave_out(run, run.entrants.get(), by=run.owner)
    assert factory.counts(run) == {"answering": 2, "left_out": 1}
    RunItem.objects.filter(state="answering").update(lease_until=timezone.now() - timedelta(seconds=1), attempt=9)
    sweep()
    assert factory.counts(run) == {"left_out": 3}
    assert not RunItem.objects.filter(finished_at=None).exists()


@pytest.mark.parametrize(
    ("state", "reason", "after"),
    [
        ("queued", "", "queued"), ("running", "", "running"), ("paused", "person", "paused"),
        ("paused", "budget", "paused"), ("paused", "models_away", "running"), ("paused", "refused_key", "running"),
    ],
)  # fmt: skip
def test_entrant_of_unfinished_run_can_be_left_out(state: str, reason: str, after: str):
    run = factory.run(factory.version(2), make.model("honest"), make.model("other"))
    Run.objects.update(state=state, reason=reason)
    actions.leave_out(run, entrant(run, "other"), by=run.owner)
    run.refresh_from_db()
    assert (run.state, run.reason) == (after, "" if after == "running" else reason)
    assert states(run, "other") == {"left_out": 2}
    assert states(run, "honest") == {"queued": 2}


def test_run_waits_on_for_a_second_halted_entrant():
    run = factory.run(factory.version(2), make.model("honest"), make.model("other"))
    Run.objects.update(state="paused", reason="refused_key")
    Entrant.objects.update(halted="refused_key")
    actions.leave_out(run, entrant(run, "other"), by=run.owner)
    run.refresh_from_db()
    assert run.state == "paused"


@pytest.mark.parametrize("state", ["preparing", "scoring", "done", "failed", "cancelled"])
def test_entrant_of_ended_run_stays(state: str):
    run = factory.run(factory.version(2), make.model("honest"))
    Run.objects.update(state=state)
    with pytest.raises(WrongState, match="while the run is under way"):
        actions.leave_out(run, run.entrants.get(), by=run.owner)
    assert not AuditEntry.objects.exists()


def test_two_clicks_leave_out_once():
    run = factory.run(factory.version(2), make.model("honest"))
    errors = []

    def click() -> None:
        try:
            actions.leave_out(run, run.entrants.get(), by=run.owner)
        except Exception as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=click) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    audited = AuditEntry.objects.get()
    assert (audited.action, audited.user, audited.details["unanswered"]) == ("leave out of run", run.owner, 2)
    Run.objects.update(state="done")
    actions.leave_out(run, run.entrants.get(), by=run.owner)  # the third click, after the run has ended
    assert AuditEntry.objects.count() == 1


def test_waiting_run_leaves_the_provider_to_others():
    model = make.model("honest")
    ProviderPace.objects.create(provider=model.provider, allowed=1)
    version = factory.version(3)
    first, second = factory.run(version, model), factory.run(factory.version(9), model)

    def shares() -> tuple[int, int]:
        return sum(plan.read_plan(first.pk).shares.values()), sum(plan.read_plan(second.pk).shares.values())

    assert shares() == (1, 0)
    later = timezone.now() + timedelta(hours=1)
    for changes in ({"next_try_at": later}, {"halted": "refused_key"}, {"left_out_at": later}):
        first.entrants.update(next_try_at=None, halted="", left_out_at=None)
        first.entrants.update(**changes)
        assert shares() == (0, 1)
    first.entrants.update(left_out_at=None)
    first.items.update(due_at=later)  # as after Retry-After
    assert shares() == (0, 1)


def test_failed_entrant_takes_one_call_of_the_share():
    model = make.model("honest")
    runs = [factory.run(factory.version(20), model) for _ in range(2)]
    runs[0].entrants.update(failures=1)
    assert [sum(plan.read_plan(run.pk).shares.values()) for run in runs] == [1, 7]


def test_hung_model_holds_up_no_other_run(fake_provider: FakeProvider, drive_run: Callable[[Run], None]):
    models = [make.model(name, at=fake_provider.base_url) for name in ("patient", "honest")]
    Provider.objects.update(calls_at_once=2, first_s=0.3)  # one for runs
    run, other = factory.run(factory.version(3), models[0]), factory.run(factory.version(6), models[1])
    drive_run(run)
    wait_for(lambda: fake_provider.calls["patient"] == 1)
    drive_run(other)
    factory.wait_until_ended(other)
    assert factory.counts(other) == {"scored": 6}
    assert fake_provider.calls["patient"] == 1
    assert entrant(run, "patient").failure == "first_timeout"


def test_run_asks_models_with_open_breakers(fake_provider: FakeProvider, drive_run: Callable[[Run], None]):
    model = make.model("honest", at=fake_provider.base_url)
    later = timezone.now() + timedelta(hours=1)
    for of in ({"model": model}, {"provider": model.provider}):
        Breaker.objects.create(**of, opened_at=timezone.now(), probe_at=later, reason="cut")
    run = factory.run(factory.version(3), model)
    drive_run(run)
    factory.wait_until_ended(run)
    assert factory.counts(run) == {"scored": 3}


def test_time_left_counts_from_the_last_start():
    run = factory.run(factory.version(100), make.model("honest"), make.model("other"))
    now = timezone.now()
    moved = list(RunItem.objects.filter(entrant=entrant(run, "honest")).values_list("pk", flat=True))
    RunItem.objects.filter(pk__in=moved[:40]).update(state="scored")
    Run.objects.update(state="paused", started_at=now - timedelta(days=1))
    actions.resume_run(run)
    run.refresh_from_db()
    assert read_run_progress(run).minutes_left is None
    RunItem.objects.filter(pk__in=moved[:60]).update(state="scored")
    Run.objects.update(paced_from=now - timedelta(minutes=10))
    run.refresh_from_db()
    progress = read_run_progress(run)
    assert progress.minutes_left == 20  # for 40 more at 20 in ten minutes
    assert progress.standing_still == [entrant(run, "other")]


def test_items_that_were_not_asked_are_not_wrong():
    run = factory.run(factory.version(4, errors_count="wrong"), make.model("honest"))
    answered = RunItem.objects.order_by("pk")[0]
    RunItem.objects.filter(pk=answered.pk).update(state="scored", score=1, passed=True)
    mean = read_report(run).metrics[0].means[0]  # so far
    assert (mean.mean.value, mean.scored, mean.planned, mean.missing) == (1.0, 1, 4, 0)
    actions.leave_out(run, run.entrants.get(), by=run.owner)
    mean = read_report(run).metrics[0].means[0]
    assert (mean.mean.value, mean.scored, mean.planned, mean.is_complete) == (1.0, 1, 4, False)


def test_budget_is_free_for_the_others(fake_provider: FakeProvider, drive_run: Callable[[Run], None]):
    models = [make.model(n, at=fake_provider.base_url, parameters={"max_tokens": 10}) for n in ("patient", "honest")]
    for model in models:
        Price.objects.create(model=model, input_per_million=0, output_per_million=1000)  # at most 0.01, costs 0.002
    run = factory.run(factory.version(5), *models, budget="0.031", concurrency=3)
    drive_run(run)
    wait_for(lambda: fake_provider.calls["patient"] > 0)
    actions.leave_out(run, entrant(run, "patient"), by=run.owner)
    factory.wait_until_ended(run)
    assert (run.state, run.reserved) == ("done", 0)
    assert states(run, "honest") == {"scored": 5}
    assert run.spent >= 5 * Decimal("0.002")
