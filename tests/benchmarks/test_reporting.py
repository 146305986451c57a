"""Run against run, heat map and reports."""

import pytest
from django.test import Client

from accounts.actor import Actor
from benchmarks.models import Run, Template
from benchmarks.reports.store import compute_report, store_report
from models_registry.models import LanguageModel
from tests import make
from tests.worlds.benchmarks import samples
from tests.worlds.benchmarks.samples import Sample

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def test_runs_are_compared(sample: Sample, member: Actor, browser: Client, models: list[LanguageModel]):
    # The models change places: the one that knew all knows half, and the other way round.
    later = samples.finished_run(member.user, sample.run.version, models[::-1])
    address = f"/benchmarks/r/{later.public_id}/compare/"
    assert sample.run.public_id in browser.get(address).text
    page = browser.get(f"{address}?with={sample.run.public_id}")
    changes = page.context["changes"]
    assert (changes.older, changes.newer, changes.numbers.matched) == (sample.run, later, 8)
    by_name = {str(change.entrant.model): change for change in changes.entrants}
    better, worse = by_name["Model bob"], by_name["Model ada"]
    assert [case.key for case in better.mended] == ["france", "ghana", "norway", "peru"]
    assert [case.key for case in worse.broken] == ["france", "ghana", "norway", "peru"]
    assert better.comparison.cases == 7
    assert better.comparison.difference.value > 0 > worse.comparison.difference.value
    assert f"/case/{better.mended[0].case_id}/" in page.text
    assert browser.get(f"/benchmarks/r/{sample.run.public_id}/compare/?with={later.public_id}").context["changes"] == (
        changes
    )
    assert browser.get(f"{address}?with=nothing").status_code == 404
    Run.objects.filter(pk=later.pk).update(published_at=later.created_at)
    assert Client().get(f"{address}?with={sample.run.public_id}").status_code == 404


def test_heat_map_averages_only_when_asked(sample: Sample, member: Actor, browser: Client):
    other = samples.template(member.user, "Capitals again")
    samples.finished_run(member.user, other.versions.get(), [sample.run.entrants.all()[0].model])
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
    context = browser.get(f"/benchmarks/heatmap/?template={other.public_id}").context
    assert (len(context["map"].templates), len(context["choices"])) == (1, 2)
    assert "No results yet" in Client().get("/benchmarks/heatmap/").text


def publish(browser: Client, run: Run, readers: str) -> None:
    response = browser.post(f"/benchmarks/r/{run.public_id}/publish/", {"readers": readers})
    assert response["Location"] == f"/benchmarks/r/{run.public_id}/report/"


def test_report_is_published_with_names_or_numbers(sample: Sample, browser: Client):
    run, visitor = sample.run, Client()
    address = f"/benchmarks/r/{run.public_id}/"
    paths = ["report/", "report.html", "", "matrix/", f"items/{sample.item.pk}/", "compare/"]

    def statuses() -> list[int]:
        return [visitor.get(address + path).status_code for path in paths]

    own = browser.get(f"{address}report/").text
    for part in ("Model ada", "What is the capital of", "names the capital", "7 of 8 scores", "<svg", "Wilson"):
        assert part in own
    assert (statuses(), "shared-address" in own) == ([404] * 6, False)
    publish(browser, run, "names")
    assert statuses() == [200] * 6
    assert f'value="http://testserver{address}report/"' in browser.get(f"{address}report/").text
    assert "Rapport" in browser.get(address, headers={"Accept-Language": "fr"}).text
    assert "Model ada" in visitor.get(f"{address}report/").text
    publish(browser, run, "numbers")
    assert statuses() == [200, 200, 404, 404, 404, 404]
    for path in ("report/", "report.html"):
        page = visitor.get(address + path).text
        assert [part in page for part in ("Entrant 2 has 7 of 8 scores", "Model ", "capital of ")] == [
            True,
            False,
            False,
        ]
    assert "Model ada" in browser.get(f"{address}report/").text
    publish(browser, run, "none")
    assert statuses() == [404] * 6
    assert make.browser(make.member()).post(f"{address}publish/", {"readers": "names"}).status_code == 404


def test_older_reports_are_read_and_published_by_number(sample: Sample, browser: Client):
    run, visitor = sample.run, Client()
    address = f"/benchmarks/r/{run.public_id}/"
    run.items.filter(state="failed").update(state="scored", error="", score=1.0, passed=True)
    store_report(run, compute_report(run))
    for path in ("", "report/"):
        page = browser.get(address + path).text
        assert ("Report 1 of 2, of" in page, "7 of 8 scores" in page) == (True, False)
        assert "7 of 8 scores" in browser.get(f"{address}{path}?number=1").text
        assert browser.get(f"{address}{path}?number=3").status_code == 404
    named = browser.get(f"{address}report.html?number=1")["Content-Disposition"]
    assert f'filename="First look {run.created_at:%Y-%m-%d}.1.html"' in named
    browser.post(f"{address}publish/", {"readers": "names", "number": "1"})
    for path in ("", "report/", "report.html"):
        page = visitor.get(address + path).text
        assert ("7 of 8 scores" in page, "Report 1 of 2" in page) == (True, False)
        assert visitor.get(f"{address}{path}?number=2").status_code == 404
    api = f"/api/v1/benchmarks/runs/{run.public_id}/report/"
    assert visitor.get(api).json()["number"] == 1
    assert [visitor.get(f"{api}?number={number}").status_code for number in ("1", "2", "x")] == [200, 404, 400]
    assert "Choose who" in browser.post(f"{address}publish/", {"readers": "names", "number": "7"}, follow=True).text
    publish(browser, run, "names")
    assert visitor.get(api).json()["number"] == 2


def test_report_file_stands_alone(sample: Sample, browser: Client):
    Template.objects.update(description="<script>alert(1)</script>", held_out=True)
    address = f"/benchmarks/r/{sample.run.public_id}/"
    response = browser.get(f"{address}report.html")
    assert response["Content-Disposition"].startswith("attachment")
    for absent in ("<script", "<link", "src=", "url(", "@import", "href="):
        assert absent not in response.text
    assert ".report table" in response.text
    assert "What is the capital of" in response.text
    publish(browser, sample.run, "names")
    assert "What is the capital of" not in Client().get(f"{address}report.html").text


def test_power_is_told_before_and_after_run(sample: Sample, member: Actor, browser: Client):
    models = [make.model(name=name) for name in ("cyd", "dan")]
    run = samples.finished_run(member.user, sample.run.version, [models[0], models[1]])
    run.items.filter(state="failed").update(state="scored", error="", score=1.0, passed=True)
    store_report(run, compute_report(run))
    page = browser.get(f"/benchmarks/r/{run.public_id}/").text
    assert "tell them apart in 4 of 5 runs; this run has 8." in page
    start = browser.get(f"/benchmarks/t/{sample.template.public_id}/start/").text
    assert "By the last run of this template, its 8 cases can tell two entrants apart" in start


def test_run_without_report_is_not_published(sample: Sample, browser: Client):
    sample.run.reports.all().delete()
    address = f"/benchmarks/r/{sample.run.public_id}/"
    assert [browser.get(address + path).status_code for path in ("report/", "compare/", "")] == [404, 404, 200]
    assert "not possible" in browser.post(f"{address}publish/", {"readers": "names"}, follow=True).text
    sample.run.refresh_from_db()
    assert sample.run.published_at is None


def test_report_names_its_method_and_inputs(member: Actor, browser: Client, models: list[LanguageModel]):
    template = samples.template(member.user)
    template.versions.update(errors_count="wrong")
    run = samples.finished_run(member.user, template.versions.get(), models)
    page = browser.get(f"/benchmarks/r/{run.public_id}/report/").text
    for part in ("benchmark-report-2", run.reports.get().digest[:16], "Answers that failed to arrive count as wrong."):
        assert part in page
