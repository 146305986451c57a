"""Runs of which entrants have no score, one, or only failures: all that shows their results."""

import io
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from accounts.actor import Actor
from benchmarks.exports.formats import WRITERS
from benchmarks.exports.run_export import RunExport
from benchmarks.exports.verification import differences, recompute_file
from benchmarks.models import Run, RunItem
from benchmarks.reports.store import compute_report, read_report, store_report
from models_registry.models import LanguageModel
from tests import make
from tests.worlds.benchmarks import samples

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

RIGHT, WRONG, FAILED, EMPTY, UNSCORED, SKIPPED, WAITING = "right", "wrong", "failed", "empty", "unscored", "skipped", ""
# Outcomes of each entrant's cases, of which there are eight; the last one is repeated.
WORLDS: dict[str, list[list[str]]] = {
    "two answered, one not": [[RIGHT], [WRONG, RIGHT], [FAILED]],
    "two answered, one skipped": [[RIGHT], [RIGHT, WRONG], [SKIPPED]],
    "two answered, one unscored": [[RIGHT], [RIGHT, WRONG], [UNSCORED]],
    "no scores at all": [[FAILED], [SKIPPED], [UNSCORED]],
    "one score each": [[RIGHT, FAILED], [WRONG, SKIPPED], [UNSCORED, RIGHT, FAILED]],
    "one score in all": [[RIGHT, FAILED], [FAILED]],
    "all right": [[RIGHT], [RIGHT], [RIGHT]],
    "all wrong": [[WRONG], [WRONG], [EMPTY]],
    "all right and all wrong": [[RIGHT], [WRONG], [EMPTY], [FAILED]],
    "no common case": [[RIGHT, RIGHT, RIGHT, RIGHT, FAILED], [FAILED, FAILED, FAILED, FAILED, RIGHT]],
    "all kinds": [[RIGHT, WRONG, FAILED, EMPTY, UNSCORED, SKIPPED], [UNSCORED, RIGHT], [FAILED], [EMPTY, FAILED]],
    "one entrant without scores": [[FAILED]],
}
CANCELLED: dict[str, list[list[str]]] = {
    "before any call": [[SKIPPED], [SKIPPED], [SKIPPED]],
    "after one answer": [[RIGHT, SKIPPED], [SKIPPED], [SKIPPED]],
    "before one entrant": [[RIGHT], [RIGHT, WRONG], [SKIPPED]],
    "before scoring": [[UNSCORED], [RIGHT, WRONG], [SKIPPED]],
    "halfway": [[RIGHT, RIGHT, WRONG, SKIPPED], [RIGHT, WRONG, SKIPPED], [FAILED, SKIPPED]],
}


@pytest.fixture
def member() -> Actor:
    return make.member()


@pytest.fixture
def browser(member: Actor) -> Client:
    return make.browser(member)


@pytest.fixture
def models() -> list[LanguageModel]:
    return [make.model(name=f"Model {name}", slug=name) for name in ("ada", "bob", "cyd", "dan")]


@pytest.fixture
def run_of(member: Actor, models: list[LanguageModel]) -> Callable[..., Run]:
    version = samples.template(member.user).versions.get()

    def make_run(outcomes: list[list[str]], state: str = Run.State.DONE, *, with_report: bool = True) -> Run:
        run = samples.live_run(member.user, version, models[: len(outcomes)])
        for entrant, row in zip(run.entrants.order_by("position"), outcomes, strict=True):
            for place, item in enumerate(entrant.items.order_by("position")):
                _end(item, row[min(place, len(row) - 1)])
        now = timezone.now()
        Run.objects.filter(pk=run.pk).update(state=state, started_at=now, finished_at=now)
        run = Run.objects.select_related("version__template").get(pk=run.pk)
        if with_report:
            store_report(run, compute_report(run))
        return run

    return make_run


def _end(item: RunItem, outcome: str) -> None:
    if outcome in (RIGHT, WRONG):
        samples.answer(item, "It is known.", is_right=outcome == RIGHT)
    elif outcome == UNSCORED:
        samples.answer(item, "It is known.", is_right=True)
        item.scores.update(value=None, passed=None, error="scorer_failed")
        RunItem.objects.filter(pk=item.pk).update(score=None, passed=None)
    elif outcome == SKIPPED:
        RunItem.objects.filter(pk=item.pk).update(state="skipped", finished_at=timezone.now())
    elif outcome:
        error = "empty" if outcome == EMPTY else "cut"
        RunItem.objects.filter(pk=item.pk).update(state="failed", error=error, attempt=3, finished_at=timezone.now())


def pages_of(run: Run, other: Run) -> Iterator[str]:
    pages, api = f"/benchmarks/r/{run.public_id}/", f"/api/v1/benchmarks/runs/{run.public_id}/"
    yield from (pages, f"{pages}report/", f"{pages}report.html", f"{pages}matrix/", f"{pages}compare/")
    yield f"{pages}compare/?with={other.public_id}"
    yield from (f"/benchmarks/r/{other.public_id}/compare/?with={run.public_id}", "/benchmarks/heatmap/?average=1")
    yield from (api, f"{api}report/", f"{api}compare/?with={other.public_id}", "/api/v1/benchmarks/heatmap/?average=1")
    yield f"/benchmarks/t/{run.version.template.public_id}/start/"


def assert_everything_shows(run: Run, other: Run, browser: Client, folder: Path) -> None:
    assert {path: status for path in pages_of(run, other) if (status := browser.get(path).status_code) != 200} == {}
    for ending, write in WRITERS.items():
        assert all(b"".join(write(RunExport(run, is_wide=is_wide))) for is_wide in (False, True)), ending
    for ending in ("jsonl", "parquet", "json"):
        path = folder / f"run.{ending}"
        call_command("export_benchmark_run", run.public_id, str(path), stderr=io.StringIO())
        assert differences(read_report(run), recompute_file(path)) == []
    msgspec.json.decode(msgspec.json.encode(read_report(run)))


@pytest.mark.parametrize("world", WORLDS)
def test_runs_without_scores_are_shown(world: str, run_of: Callable[..., Run], browser: Client, tmp_path: Path):
    whole = run_of([[RIGHT], [WRONG, RIGHT], [WRONG]])
    assert_everything_shows(run_of(WORLDS[world]), whole, browser, tmp_path)


@pytest.mark.parametrize("moment", CANCELLED)
def test_cancelled_runs_are_shown(moment: str, run_of: Callable[..., Run], browser: Client, tmp_path: Path):
    run, whole = run_of(CANCELLED[moment], Run.State.CANCELLED), run_of([[RIGHT], [WRONG, RIGHT], [WRONG]])
    assert_everything_shows(run, whole, browser, tmp_path)
    without_report = run_of(CANCELLED[moment], Run.State.CANCELLED, with_report=False)
    page = browser.get(f"/benchmarks/r/{without_report.public_id}/")
    assert (page.status_code, "its numbers are of a part of the items" in page.text) == (200, True)


def test_heat_map_shows_models_without_scores(run_of: Callable[..., Run], browser: Client):
    first, second = run_of([[RIGHT], [FAILED], [FAILED]]), run_of([[SKIPPED], [UNSCORED]])
    page = browser.get("/benchmarks/heatmap/?average=1")
    rows = {
        model: (cells[0].run, cells[0].mean.mean.value, average) for model, cells, average in page.context["map"].rows
    }
    assert rows.pop("Model ada")[:2] == (first.public_id, 1.0)
    assert rows == {"Model bob": (second.public_id, None, None), "Model cyd": (first.public_id, None, None)}
    assert page.text.count("not scored") == 2
    cells = browser.get("/api/v1/benchmarks/heatmap/").json()["cells"]
    assert [(cell["value"], cell["low"], cell["is_complete"]) for cell in cells[1:]] == [(None, None, False)] * 2


def test_entrant_without_scores_has_no_figures(run_of: Callable[..., Run], browser: Client):
    run = run_of([[RIGHT], [WRONG, RIGHT], [SKIPPED]])
    page = browser.get(f"/benchmarks/r/{run.public_id}/")
    assert "Model cyd has 0 of 8 scores, and no rank." in page.text
    ada, bob, cyd = page.context["results"].rows
    assert (ada.range, bob.range, cyd.range, cyd.mean.note) == ("1–2", "1–2", "–", "no_scores")
    assert [page.context["results"].report.metrics[0].pairs[n].difference.value for n in (1, 2)] == [None, None]
