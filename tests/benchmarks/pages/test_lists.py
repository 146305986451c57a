"""Pages: lists of templates and runs."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.actor import Actor
from benchmarks import actions
from benchmarks.models import Run, RunItem, Template
from models_registry.models import LanguageModel
from tests import make
from tests.worlds.benchmarks import samples
from tests.worlds.benchmarks.samples import Sample

pytestmark = [pytest.mark.django_db, pytest.mark.processes]
FIRST = "Facts with short answers"


def test_list_without_rows_offers_the_first_step(browser: Client):
    assert "Make a template" in browser.get("/benchmarks/").text
    assert "Sign in" in Client().get("/benchmarks/").text


def test_list_of_templates_is_searched(sample: Sample, browser: Client):
    assert sample.template.public_id in browser.get("/benchmarks/?search=capitals").text
    assert "No template matches" in browser.get("/benchmarks/?search=nothing").text


def test_list_of_runs_is_filtered_by_state(sample: Sample, browser: Client):
    runs = browser.get("/benchmarks/?show=runs&state=done", headers={"HX-Request": "true"}).text
    assert "First look" in runs
    assert "<html" not in runs
    assert sample.run.public_id not in browser.get("/benchmarks/?show=runs&state=paused").text


def test_list_of_runs_says_what_was_never_asked(sample: Sample, member: Actor, browser: Client):
    cancelled = samples.live_run(member.user, sample.run.version, [make.model()])
    cancelled.items.filter(pk=cancelled.items.first().pk).update(state=RunItem.State.SCORED)
    actions.cancel_run(cancelled)
    page = " ".join(browser.get("/benchmarks/?show=runs").text.split())
    assert "1 of 8 items · 7 never asked · 1 entrant" in page
    assert "16 of 16 items · 1 failed · 2 entrants" in page


def test_list_hides_templates_of_others(sample: Sample):
    assert sample.template.public_id not in make.browser(make.member()).get("/benchmarks/").text


def test_new_member_runs_built_in_template_in_three_clicks(member: Actor, models: list[LanguageModel]):
    actions.store_built_in_templates()
    browser = make.browser(member)
    page = browser.get("/benchmarks/")
    address = f"/benchmarks/t/{Template.objects.get(name=FIRST).public_id}/start/"
    assert page.text.index(f"Run “{FIRST}” now") < page.text.index("Arithmetic")
    assert address in page.text
    form = browser.get(address).context["form"]
    assert form.initial["models"] == ["ada", "bob"]
    sent = {name: form[name].value() for name in ("models", "prompts", "repeats", "concurrency", "starts_at_once")}
    assert browser.post(address, sent).status_code == 302
    run = Run.objects.get()
    assert (run.state, run.entrant_count, run.version.case_count) == ("preparing", 2, 20)
    assert f"Run “{FIRST}” now" not in browser.get("/benchmarks/").text


def test_list_has_built_in_templates_of_the_language(member: Actor, browser: Client):
    actions.store_built_in_templates()
    french = {"Accept-Language": "fr"}
    page = browser.get("/benchmarks/", headers=french).text
    assert "Lancer « Faits à réponse courte »" in page.replace("\u00a0", " ")
    assert [name in page for name in ("Calcul", "Arithmetic", FIRST)] == [True, False, False]
    assert "Calcul" not in browser.get("/benchmarks/").text
    assert "Arithmetic" in browser.get("/benchmarks/?search=arith", headers=french).text


def test_list_query_count_is_fixed(member: Actor, browser: Client, models: list[LanguageModel]):
    costs = []
    for tab in ("templates", "runs"):
        for _ in range(2):
            samples.sample(member.user, models)
            with CaptureQueriesContext(connection) as queries:
                browser.get(f"/benchmarks/?show={tab}")
            costs.append(len(queries))
    assert costs[0] == costs[1] <= 11
    assert costs[2] == costs[3] <= 11


def test_lists_are_filtered_by_owner(member: Actor, sample: Sample, browser: Client, models: list[LanguageModel]):
    other = samples.template(make.user())
    Template.objects.filter(pk=other.pk).update(visibility="site")
    run = samples.live_run(make.user(), sample.run.version, models[:1])
    Run.objects.filter(pk=run.pk).update(published_at=run.created_at)
    shown = []
    for show, ids in (("templates", (sample.template, other)), ("runs", (sample.run, run))):
        for whose in ("", "own", "site"):
            page = browser.get(f"/benchmarks/?show={show}&whose={whose}").text.partition('class="panel next-steps"')[0]
            shown.append([f"/{one.public_id}/" in page for one in ids])
    assert shown == [[True, True], [True, False], [False, True]] * 2
