"""Stored answers are scored by the version's and the case's checks; a check that fails itself is never a zero."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.db import Error
from django.test import Client

from battles.models import Call
from battles.worker.runner import Engine
from benchmarks import actions, streaming
from benchmarks.actions import freeze_version, rescore_run, start_draft
from benchmarks.actions.importing import apply_preview, preview
from benchmarks.checks.children import scoring_children
from benchmarks.errors import RunNotPossible, WrongState
from benchmarks.imports.content import Request
from benchmarks.models import Check, Run, RunItem, Score, TemplateVersion
from benchmarks.preparation.run_preparation import prepare
from benchmarks.reports.store import compute_report, read_report
from benchmarks.worker.runner import drive
from common.db.execution import run_in_db
from models_registry.models import Price
from tests import make
from tests.benchmarks import factory
from tests.fake_provider import FakeProvider
from tests.waiting import wait_for

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]


@pytest.fixture
def finish(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Callable[[Run], Run]:
    monkeypatch.setattr("benchmarks.worker.runner.IDLE_TICK_S", 0.02)

    def drive_until_done(run: Run) -> Run:
        engine.run(partial(drive, run.pk), "run")
        return factory.wait_until_ended(run, within=60)

    return drive_until_done


def version(cases: int = 2) -> TemplateVersion:
    """Create a version whose checks need a rendered target, a child, and facts of the call."""
    version = factory.version(cases)
    Check.objects.bulk_create(
        [
            Check(version=version, position=1, key="says", scorer="equals", target=["say {{ word }}"], metric="exact"),
            Check(
                version=version, position=2, key="short", scorer="expression", weight=2,
                settings={"expression": "size(text) < 20 && scores.says == 1.0"},
            ),
            Check(version=version, position=3, key="cheap", scorer="cost", settings={"max_dollars": 1}, weight=0),
        ]
    )  # fmt: skip
    return version


def scores_of(case: str) -> dict[str, tuple[float | None, bool | None, str]]:
    scores = Score.objects.filter(item__case__key=case).order_by("pk")
    return {score.check_key: (score.value, score.passed, score.error) for score in scores}


def test_checks_of_version_and_case_score_an_answer(fake_provider: FakeProvider, finish: Callable[[Run], Run]):
    checked = version()
    own = {"scorer": "icontains", "target": ["{{ word|upper }}", "nothing"], "negate": True, "weight": 4}
    fails = {"key": "broken", "scorer": "expression", "settings": {"expression": "scores.absent > 0.5"}}
    checked.cases.filter(key="case-0").update(checks=[own])
    checked.cases.filter(key="case-1").update(checks=[fails])
    model = make.model("honest", at=fake_provider.base_url)
    Price.objects.create(model=model, input_per_million=1, output_per_million=1)
    run = finish(factory.run(checked, model, budget="1"))
    assert (run.state, factory.counts(run)) == ("done", {"scored": 2})
    right = (1.0, True, "")
    shared = {"has-the-word": right, "says": right, "short": right, "cheap": right}
    assert scores_of("case-0") == shared | {"icontains": (0.0, False, "")}
    assert scores_of("case-1") == shared | {"broken": (None, None, "scorer_failed")}
    items = RunItem.objects.order_by("case__key").values_list("score", "passed")
    assert list(items) == [(0.5, False), (None, None)]  # 4 of 8 by weight; unscored is not wrong
    assert set(Score.objects.filter(check_key="says").values_list("metric", "weight")) == {("exact", 1.0)}
    wait_for(lambda: scoring_children().pids() == [])


def test_finished_run_is_scored_again_without_a_call(fake_provider: FakeProvider, finish: Callable[[Run], Run]):
    checked = version(3)
    checked.cases.filter(key="case-2").update(expected=["word3"])  # a wrong reference
    run = finish(factory.run(checked, make.model("honest", at=fake_provider.base_url)))
    first = read_report(run)
    assert first == compute_report(run)
    assert [metric.metric for metric in first.metrics] == ["score", "exact", "passed"]
    assert [first.metrics[0].means[0].mean.value, first.metrics[1].means[0].mean.value] == [pytest.approx(11 / 12), 1]
    draft = start_draft(checked.template)
    draft.cases.filter(key="case-2").update(expected=["word2"])
    draft.checks.filter(key="says").update(target=["say {{ word }}!"])
    rescored = finish(rescore_run(run))
    assert (rescored.checks_version, factory.counts(run)) == (draft, {"scored": 3})
    assert fake_provider.calls == {"honest": 3}
    assert [scores_of(f"case-{n}")["has-the-word"][0] for n in range(3)] == [1, 1, 1]
    second = read_report(run)
    assert [second.metrics[0].means[0].mean.value, second.metrics[1].means[0].mean.value] == [pytest.approx(0.25), 0]
    assert (read_report(run, 1), run.reports.count()) == (first, 2)
    with pytest.raises(Error, match=r"a_report_never_changes|Cannot update"):
        run.reports.update(method="other")
    other = start_draft(checked.template)
    other.cases.filter(key="case-1").update(variables={"word": "another"})
    with pytest.raises(RunNotPossible, match="case-1"):
        rescore_run(run)


def test_run_is_rescored_while_its_driver_ends(
    fake_provider: FakeProvider, engine: Engine, monkeypatch: pytest.MonkeyPatch
):
    run = factory.run(version(1), make.model("honest", at=fake_provider.base_url))
    start_draft(run.version.template).checks.filter(key="says").update(target=["say {{ word }}!"])
    publish_rest = streaming.publish_rest

    async def rescore_before_publishing(run_id: int) -> None:
        if await run_in_db(run.reports.count) == 1:
            await run_in_db(rescore_run, run)
            await drive(run_id, engine._context.provider, engine._serves_people)
        await publish_rest(run_id)

    monkeypatch.setattr(streaming, "publish_rest", rescore_before_publishing)
    engine.run(partial(drive, run.pk), "run")
    wait_for(lambda: run.reports.count() == 2, 60)
    assert (factory.wait_until_ended(run).state, factory.counts(run)) == ("done", {"scored": 1})


def test_imported_answers_are_scored_without_a_call(finish: Callable[[Run], Run]):
    table = b"id,question,expected,ada,bob\na,1 + 1?,2,2,3\nb,2 + 2?,4,4,\n"
    request = Request("sums.csv", mapping={
        "id": "key", "question": "variable", "expected": "expected", "ada": "reply:ada", "bob": "reply:bob",
    })  # fmt: skip
    owner = make.user()
    previewed = preview(owner=owner, content=table, request=request)
    [run] = apply_preview(owner=owner, preview_id=previewed.id, with_answers=True).runs.all()
    assert prepare(run.pk)
    assert factory.counts(finish(run)) == {"scored": 3, "skipped": 1}
    means = [(mean.mean.value, mean.scored, mean.missing) for mean in read_report(run).metrics[0].means]
    assert means == [(1.0, 2, 0), (0.0, 1, 1)]
    assert [str(entrant) for entrant in run.entrants.all()] == ["ada", "bob"]
    assert not Call.objects.exists()
    with pytest.raises(WrongState):
        actions.retry_failed(run)
    browser = Client()
    browser.force_login(owner)
    item = run.items.filter(state="scored").first()
    for page in ("", "matrix/", f"items/{item.pk}/", f"case/{item.case_id}/"):
        assert "ada" in browser.get(f"/benchmarks/r/{run.public_id}/{page}").text


def test_failed_and_cancelled_items_are_missing_in_a_report(fake_provider: FakeProvider, finish: Callable[[Run], Run]):
    checked = factory.version(4, errors_count="wrong")
    models = [make.model(name, at=fake_provider.base_url) for name in ("status-400", "honest", "empty")]
    report = read_report(finish(factory.run(checked, *models, attempts=1)))
    means = [(mean.mean.value, mean.scored, mean.missing, mean.wrong) for mean in report.metrics[0].means]
    assert means == [(0.0, 4, 4, 0), (1.0, 4, 0, 0), (0.0, 4, 0, 4)]
    run = factory.run(checked, make.model("patient", at=fake_provider.base_url), concurrency=2)
    actions.cancel_run(run)
    assert (read_report(run).metrics[0].means[0].missing, run.reports.count()) == (4, 0)


def test_worker_that_ends_stores_no_verdict_of_killed_children(
    fake_provider: FakeProvider, engine: Engine, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(streaming, "INTERVAL_S", 60)  # so that an item waits to be published at the end
    checked = version(1)
    checked.checks.filter(key="short").update(
        settings={"expression": "[1,2,3,4,5,6,7,8,9].all(a, " * 7 + "text != ''" + ")" * 7}
    )
    run = factory.run(checked, make.model("honest", at=fake_provider.base_url))
    engine.run(partial(drive, run.pk), "run")
    wait_for(lambda: factory.counts(run) == {"answered": 1} and scoring_children().pids(), 30)
    engine.close()
    assert (factory.counts(run), Score.objects.count(), scoring_children().pids()) == ({"answered": 1}, 0, [])
    assert streaming._pending == {}


BAD: list[tuple[dict[str, Any], str]] = [
    ({"scorer": "regex", "target": [r"(a)\1"]}, "checks[1]"),
    ({"scorer": "number", "settings": {"tolerance": 1}}, "checks[1]"),
    ({"scorer": "no_such"}, "checks[1]"),
    ({"scorer": "number"}, "cases[case-0].expected"),
    ({"scorer": "contains", "target": ["{{ word"]}, "checks[1].target"),
    ({"scorer": "expression", "settings": {"expression": "size("}}, "checks[1]"),
    ({"scorer": "contains", "metric": "score"}, "checks[1]"),
]


@pytest.mark.parametrize(("check", "position"), BAD, ids=[str(position) + check["scorer"] for check, position in BAD])
def test_freezing_refuses_bad_check_with_its_position(check: dict[str, Any], position: str):
    version = factory.version(1)
    Check.objects.create(version=version, position=1, key="bad", **check)
    with pytest.raises(RunNotPossible) as refusal:
        freeze_version(version)
    assert (refusal.value.http_status, list(refusal.value.fields or {})) == (422, [position])
    version.refresh_from_db()
    assert version.state == "draft"


def test_freezing_refuses_prompt_schema_and_own_check_of_a_case():
    version = factory.version(2, template="say {{ word", variables={"type": "no such"})
    version.cases.filter(key="case-1").update(checks=[{"scorer": "contains", "target": []}], expected=[])
    with pytest.raises(RunNotPossible) as refusal:
        freeze_version(version)
    assert sorted(refusal.value.fields or {}) == [
        "cases[case-1].checks[0]", "cases[case-1].expected", "prompts[0].messages[0]", "variables",
    ]  # fmt: skip
