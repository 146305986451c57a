"""Judgings on a worker's event loop, against judges of the fake provider."""

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from functools import partial

import pytest
from django.utils import timezone

from battles.models import Call
from battles.worker.runner import Engine
from benchmarks import actions
from benchmarks.judges.results import read_results
from benchmarks.models import Judgement, Run, RunItem, Score
from benchmarks.worker import claims
from benchmarks.worker.plan import read_plan
from benchmarks.worker.progress import requeue_expired
from benchmarks.worker.runner import drive
from models_registry.models import Price
from tests import make
from tests.benchmarks import factory
from tests.fake_provider import FakeProvider
from tests.waiting import wait_for
from tests.worlds.benchmarks import judged_runs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]


@pytest.fixture
def drive_run(engine: Engine) -> Callable[[Run], None]:
    return lambda run: engine.run(partial(drive, run.pk), "run")


@pytest.fixture(autouse=True)
def _rounds_are_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.worker.store._delay_s", lambda attempt, retry_after: 0.0)
    monkeypatch.setattr("benchmarks.worker.runner.IDLE_TICK_S", 0.02)
    monkeypatch.setattr("benchmarks.worker.runner.PLAN_TTL_S", 0.1)


@pytest.fixture
def subject() -> Run:
    return judged_runs.answered_run(make.user(), [make.model(slug=slug) for slug in ("ada", "bob", "cyd")])


def test_each_pair_is_judged_in_both_orders(
    fake_provider: FakeProvider, drive_run: Callable[[Run], None], subject: Run
):
    judge = judged_runs.judge(make.model("judge-fair", at=fake_provider.base_url), subject.owner)
    judging = judged_runs.judging(judge, subject)
    assert (judging.run.state, factory.counts(judging.run)) == ("running", {"queued": 24})
    drive_run(judging.run)
    factory.wait_until_ended(judging.run)
    assert (judging.run.state, factory.counts(judging.run)) == ("done", {"scored": 24})
    assert fake_provider.calls["judge-fair"] == 24
    assert Call.objects.filter(purpose="judge", state="done").count() == 24
    better_first = Score.objects.filter(item__judgement__is_swapped=False)
    assert set(better_first.values_list("value", "label", "detail__text")) == {(1.0, "A>B", "They differ.")}
    worse_first = Score.objects.filter(item__judgement__is_swapped=True)
    assert set(worse_first.values_list("value", "label", "error")) == {(0.0, "B>A", "")}
    assert Judgement.objects.filter(judge=judge, first_reply__model__slug="bob").count() == 8


@pytest.mark.parametrize("upstream", ["judge-incorrect", "judge-two-labels", "judge-prose"])
def test_answer_without_a_verdict_is_unparsed(
    fake_provider: FakeProvider, drive_run: Callable[[Run], None], subject: Run, upstream: str
):
    judge = judged_runs.judge(make.model(upstream, at=fake_provider.base_url), subject.owner)
    judging = judged_runs.judging(judge, subject, plan="regular", pairs_per_case=1, orders="random")
    drive_run(judging.run)
    factory.wait_until_ended(judging.run)
    assert factory.counts(judging.run) == {"scored": 4}
    assert fake_provider.calls[upstream] == 8  # one repair each
    assert set(Score.objects.values_list("check_key", "value", "error", "label")) == {("verdict", None, "unparsed", "")}
    assert set(judging.run.items.values_list("score", "turn")) == {(None, 1)}


def test_repaired_verdict_counts(fake_provider: FakeProvider, drive_run: Callable[[Run], None], subject: Run):
    judge = judged_runs.judge(make.model("judge-mends", at=fake_provider.base_url), subject.owner)
    judging = judged_runs.judging(judge, subject, plan="regular", pairs_per_case=1, orders="random")
    drive_run(judging.run)
    factory.wait_until_ended(judging.run)
    assert fake_provider.calls["judge-mends"] == 8
    assert set(Score.objects.values_list("value", "label")) == {(1.0, "A>B")}
    assert [message["role"] for message in fake_provider.requests[-1]["messages"]] == [
        "system", "user", "assistant", "user",
    ]  # fmt: skip


def test_grades_have_a_score_for_each_criterion(
    fake_provider: FakeProvider, drive_run: Callable[[Run], None], subject: Run
):
    model = make.model("judge-grades", at=fake_provider.base_url)
    judging = judged_runs.judging(judged_runs.judge(model, subject.owner, judged_runs.SCORES), subject)
    drive_run(judging.run)
    factory.wait_until_ended(judging.run)
    assert factory.counts(judging.run) == {"scored": 12}
    graded = Score.objects.filter(item__judgement__first_reply__model__slug="bob")
    assert set(graded.values_list("check_key", "metric", "value", "label")) == {("right", "right", 0.75, "4")}


def test_budget_that_ends_half_way_is_told_and_raised(
    fake_provider: FakeProvider, drive_run: Callable[[Run], None], subject: Run
):
    model = make.model("judge-fair", at=fake_provider.base_url, parameters={"max_tokens": 10})
    Price.objects.create(model=model, input_per_million=0, output_per_million=1000)  # at most 0.01 a call
    judge = judged_runs.judge(model, subject.owner)
    judging = judged_runs.judging(judge, subject, budget="0.021")
    drive_run(judging.run)
    factory.wait_until_ended(judging.run)
    assert (judging.run.state, judging.run.reason, judging.run.reserved) == ("paused", "budget", 0)
    done = fake_provider.calls["judge-fair"]
    [result] = read_results(subject, [judge])
    assert (result.judged, result.is_stopped) == (done, True)
    actions.raise_budget(judging.run, to=Decimal(1))
    actions.resume_run(judging.run)
    wait_for(lambda: drive_run(judging.run) or fake_provider.calls["judge-fair"] > done)
    factory.wait_until_ended(judging.run)
    [result] = read_results(subject, [judge])
    assert (fake_provider.calls["judge-fair"], result.judged, result.is_stopped) == (24, 24, False)


def test_killed_worker_loses_no_question(fake_provider: FakeProvider, drive_run: Callable[[Run], None], subject: Run):
    judge = judged_runs.judge(make.model("judge-fair", at=fake_provider.base_url), subject.owner)
    judging = judged_runs.judging(judge, subject)
    seen = read_plan(judging.run_id)
    claim = claims.claim_items(judging.run_id, seen.entrants, wanted={judge.model.provider_id: 5}, paces=seen.paces)
    assert len(claim.items) == 5  # then the worker is killed
    RunItem.objects.filter(state="answering").update(lease_until=timezone.now() - timedelta(seconds=1))
    assert requeue_expired(judging.run_id) == 5
    drive_run(judging.run)
    factory.wait_until_ended(judging.run)
    assert factory.counts(judging.run) == {"scored": 24}
    assert (fake_provider.calls["judge-fair"], Call.objects.filter(state="lost").count()) == (24, 5)
    assert Score.objects.count() == 24
