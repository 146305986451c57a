"""Pages: page of a run."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.test import Client
from django.utils import timezone

from accounts.actor import Actor
from battles.models import Call
from benchmarks import actions
from benchmarks.models import Entrant, ItemCall, Run, Template
from benchmarks.reports.store import compute_report, store_report
from models_registry.models import LanguageModel
from tests import make
from tests.worlds.benchmarks import samples
from tests.worlds.benchmarks.samples import Sample

pytestmark = [pytest.mark.django_db, pytest.mark.processes]


@pytest.fixture
def run(member: Actor, models: list[LanguageModel]) -> Run:
    """Prepared run of one model."""
    template = samples.template(member.user)
    run = actions.create_run(
        owner=member.user, version=template.versions.get(), entrants=[actions.EntrantRequest(models[0])],
        budget=Decimal(2),
    )  # fmt: skip
    samples.prepare(run)
    return run


@pytest.fixture
def live_run(member: Actor, models: list[LanguageModel], sample: Sample) -> Run:
    """Run of both models that is under way."""
    return samples.live_run(member.user, sample.run.version, models)


@pytest.fixture
def broken(live_run: Run, models: list[LanguageModel]) -> Entrant:
    """Second entrant of the live run, which is paused because the provider refused its key."""
    Run.objects.filter(pk=live_run.pk).update(state="paused", reason="refused_key")
    live_run.entrants.filter(model=models[1]).update(halted="refused_key", failures=1, failure="refused_key")
    return live_run.entrants.get(model=models[1])


def page_of(run: Run) -> str:
    return f"/benchmarks/r/{run.public_id}/"


def test_run_page_shows_progress(run: Run, browser: Client):
    page = browser.get(page_of(run))
    assert page.context["progress"].total == 8
    assert "/benchmarks/stream/" in page.text


def test_run_is_paused_once(run: Run, browser: Client):
    assert browser.post(f"{page_of(run)}do/pause/").status_code == 303
    run.refresh_from_db()
    assert run.state == "paused"
    assert "Paused by its owner." in browser.get(page_of(run)).text
    assert "not possible" in browser.post(f"{page_of(run)}do/pause/", follow=True).text


def test_run_is_cancelled(run: Run, browser: Client):
    assert browser.post(f"{page_of(run)}do/cancel/", follow=True).context["run"].state == "cancelled"


def test_unknown_action_on_a_run_is_not_found(run: Run, browser: Client):
    assert browser.post(f"{page_of(run)}do/nonsense/").status_code == 404


def test_budget_is_raised_only(run: Run, browser: Client):
    refused = browser.post(f"{page_of(run)}budget/", {"to": "1"})
    assert (refused.status_code, "A budget can only be raised." in refused.text) == (422, True)
    assert "of $5" in browser.post(f"{page_of(run)}budget/", {"to": "5"}, follow=True).text


def test_run_under_way_shows_results_so_far(live_run: Run, sample: Sample, browser: Client):
    address = page_of(live_run)
    assert "so-far" not in browser.get(address).text
    for item in live_run.items.filter(case=sample.item.case_id).select_related("entrant__model", "run"):
        samples.answer(item, "Paris", is_right=True)
    assert f'hx-get="{address}report/?number=0"' in browser.get(address).text
    part = browser.get(f"{address}report/?number=0", headers={"HX-Request": "true"}).text
    assert "Results so far" in part
    assert "<html" not in part
    report = browser.get(f"{address}report/?number=0").text
    assert "these numbers are of the answers so far" in report
    assert "Who may read it" not in report  # there is nothing yet to publish
    assert browser.get(f"{address}matrix/").status_code == 200


def test_broken_model_is_offered_to_be_left_out(live_run: Run, broken: Entrant, browser: Client):
    page = browser.get(page_of(live_run)).text
    assert "1 of this run’s calls to" in page
    assert "Nothing more is asked until the run is resumed." in page
    assert f"Leave {broken} out" in page
    french = browser.get(page_of(live_run), headers={"Accept-Language": "fr"}).text
    assert "Laisser ce modèle de côté" in french


def test_model_that_waits_is_left_out_beside_the_reason(live_run: Run, models: list[LanguageModel], browser: Client):
    next_try = timezone.now() + timedelta(minutes=2, seconds=30)
    live_run.entrants.filter(model=models[1]).update(failures=3, failure="provider_error", next_try_at=next_try)
    top, progress = browser.get(page_of(live_run)).text.split("<h2>Progress</h2>")
    assert f"The next try is at {next_try:%H:%M} UTC, in 3 minutes." in top
    assert f"Leave {models[1]} out" in top
    assert progress.count("Leave this model out") == 1
    Run.objects.filter(pk=live_run.pk).update(state="cancelled")
    assert "The next try" not in browser.get(page_of(live_run)).text


def test_only_the_owner_leaves_entrants_of_the_run_out(live_run: Run, broken: Entrant, sample: Sample, browser: Client):
    address = f"{page_of(live_run)}do/leave-out/"
    assert make.browser(make.member()).post(address, {"entrant": broken.pk}).status_code == 404
    assert browser.post(address, {"entrant": 0}).status_code == 404
    assert browser.post(address, {"entrant": sample.item.entrant_id}).status_code == 404


def test_run_goes_on_without_the_left_out_model(live_run: Run, broken: Entrant, browser: Client):
    shown = browser.post(f"{page_of(live_run)}do/leave-out/", {"entrant": broken.pk}, follow=True).text
    assert f"{broken} is left out. Its answers stay." in shown
    assert f"Leave {broken} out" not in shown
    live_run.refresh_from_db()
    assert live_run.state == "running"


def test_no_model_of_a_finished_run_is_left_out(live_run: Run, broken: Entrant, browser: Client):
    Run.objects.filter(pk=live_run.pk).update(state="done")
    refused = browser.post(f"{page_of(live_run)}do/leave-out/", {"entrant": broken.pk}, follow=True).text
    assert "A model can be left out while the run is under way." in refused


def test_finished_run_shows_results_with_warnings(sample: Sample, browser: Client):
    page = browser.get(f"/benchmarks/r/{sample.run.public_id}/")
    first, second = page.context["results"].rows
    assert (first.entrant.model.slug, first.mean.mean.value, first.mean.scored) == ("ada", 1.0, 8)
    assert (second.mean.scored, second.mean.planned, second.rank) == (7, 8, None)
    assert any("7 of 8 scores" in sentence for sentence in page.context["results"].warnings)
    assert "The connection broke before the answer was complete." in page.text
    assert "Retry what failed" in page.text


def test_finished_run_is_scored_again_by_own_draft_only(sample: Sample, browser: Client):
    address, draft = f"/benchmarks/r/{sample.run.public_id}/", sample.template.versions.get(number=2)
    assert "Score again by version 2" in browser.get(address).text
    Template.objects.update(owner_user=make.user(), visibility="site")
    assert "Score again by" not in browser.get(address).text
    browser.post(f"{address}do/rescore/")
    draft.refresh_from_db()
    assert draft.state == "draft"
    sample.run.refresh_from_db()
    assert sample.run.state == "scoring"


def test_costs_of_lost_calls_are_shown_apart(sample: Sample, browser: Client):
    run, item = sample.run, sample.item
    for fence, state in ((7, "lost"), (8, "failed")):
        lost = Call.objects.create(
            model=item.entrant.model, purpose="item", attempt=1, fence=1, state=state, cost=Decimal("0.125"),
            error="cut" if state == "failed" else "", lease_until=run.created_at,
        )  # fmt: skip
        ItemCall.objects.create(item=item, turn=0, fence=fence, call=lost)
    store_report(run, compute_report(run))
    sentence = "Calls without an answer cost $0.25, beside the costs of the entrants."
    for path in ("", "report/"):
        page = browser.get(f"{page_of(run)}{path}")
        assert sentence in page.text
    first = page.context["report"].results.rows[0]
    assert (first.usage.cost, first.usage.lost_cost, first.usage.lost_calls) == (0, 0.25, 2)
