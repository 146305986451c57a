"""Run against run, heat map and reports."""

import pytest
from django.test import Client

from accounts.actor import Actor
from benchmarks.models import Run
from benchmarks.reports import compute_report, store_report
from models_registry.models import LanguageModel
from tests import make
from tests.benchmarks import samples
from tests.benchmarks.samples import Sample

pytestmark = pytest.mark.django_db


@pytest.fixture
def member() -> Actor:
    return make.member()


@pytest.fixture
def models() -> list[LanguageModel]:
    return [make.model(name=f"Model {name}", slug=name) for name in ("ada", "bob")]


@pytest.fixture
def sample(member: Actor, models: list[LanguageModel]) -> Sample:
    sample = samples.sample(member.user, models)
    store_report(sample.run, compute_report(sample.run))
    return sample


@pytest.fixture
def browser(member: Actor) -> Client:
    return make.browser(member)


def test_runs_are_compared(sample: Sample, member: Actor, browser: Client, models: list[LanguageModel]):
    # The models change places: the one that knew all knows half, and the other way round.
    later = samples.finished_run(member.user, sample.run.version, models[::-1])
    address = f"/benchmarks/r/{later.public_id}/compare/"
    assert browser.get(address).status_code == 404
    store_report(later, compute_report(later))
    assert sample.run.public_id in browser.get(address).text
    page = browser.get(f"{address}?with={sample.run.public_id}")
    changes = page.context["changes"]
    assert (changes.older, changes.newer, changes.numbers.matched) == (sample.run, later, 8)
    by_name = {str(one.entrant.model): one for one in changes.entrants}
    better, worse = by_name["Model bob"], by_name["Model ada"]
    assert [case.key for case in better.mended] == ["france", "ghana", "norway", "peru"]
    assert [case.key for case in worse.broken] == ["france", "ghana", "norway", "peru"]
    assert (better.found.cases, better.found.difference.value > 0, worse.found.difference.value < 0) == (7, True, True)
    assert f"/case/{better.mended[0].case_id}/" in page.text
    assert browser.get(f"/benchmarks/r/{sample.run.public_id}/compare/?with={later.public_id}").context["changes"] == (
        changes
    )
    assert browser.get(f"{address}?with=nothing").status_code == 404
    Run.objects.filter(pk=later.pk).update(published_at=later.created_at)
    assert Client().get(f"{address}?with={sample.run.public_id}").status_code == 404


def test_heat_map_averages_only_when_asked(sample: Sample, member: Actor, browser: Client):
    other = samples.template(member.user, "Capitals again")
    run = samples.finished_run(member.user, other.versions.get(), [sample.run.entrants.all()[0].model])
    store_report(run, compute_report(run))
    page = browser.get("/benchmarks/heatmap/")
    assert [template.name for template in page.context["map"].templates] == ["Capitals again", "Capitals of the world"]
    (ada, ada_cells, no_average), (_bob, bob_cells, _none) = page.context["map"].rows
    assert (ada, no_average) == ("Model ada", None)
    assert [cell.mean.mean.value for cell in ada_cells] == [1.0, 1.0]
    assert (bob_cells[0], bob_cells[1].mean.is_complete) == (None, False)
    both = browser.get("/benchmarks/heatmap/?average=1", headers={"HX-Request": "true"})
    assert "<html" not in both.text
    rows = browser.get("/benchmarks/heatmap/?average=1").context["map"].rows
    assert [None if average is None else average.mean for _model, _cells, average in rows] == [1.0, None]
    one = browser.get(f"/benchmarks/heatmap/?template={other.public_id}").context
    assert (len(one["map"].templates), len(one["choices"])) == (1, 2)
    assert "No results yet" in Client().get("/benchmarks/heatmap/").text
