"""Pages: start of a run."""

import re
from decimal import Decimal

import pytest
from django.test import Client

from accounts.actor import Actor
from benchmarks.models import Run
from models_registry.models import LanguageModel, Price
from tests.worlds.benchmarks import samples

pytestmark = [pytest.mark.django_db, pytest.mark.processes]


SENT = {"models": ["ada", "bob"], "repeats": "2", "concurrency": "4", "prompts": ["0"], "parameters": ""}


@pytest.fixture
def address(member: Actor, models: list[LanguageModel]) -> str:
    """Page that starts a run of a free model with a tiny context and a paid one."""
    Price.objects.create(model=models[1], input_per_million=1, output_per_million=2)
    LanguageModel.objects.filter(slug="ada").update(context_length=1)
    return f"/benchmarks/t/{samples.template(member.user).public_id}/start/"


def test_estimate_is_shown_without_a_run(address: str, browser: Client):
    page = browser.get(address).text
    assert ("Start the run" in page, '<details id="advanced">' in page) == (True, True)
    fragment = browser.post(address, SENT | {"estimate": "1"}, headers={"HX-Request": "true"}).text
    assert ("8 cases:" in fragment, "<html" in fragment) == (True, False)
    assert not Run.objects.exists()


def test_estimate_counts_items_costs_and_too_long_cases(address: str, browser: Client):
    estimate = browser.post(address, SENT | {"estimate": "1"}).context["estimate"]
    assert (estimate.items, estimate.entrants[0].too_long_count) == (32, 8)
    assert Decimal(0) < estimate.expected < estimate.maximum


def test_paid_run_without_budget_is_refused(address: str, browser: Client):
    refused = browser.post(address, SENT)
    assert refused.status_code == 422
    assert "A run of paid models needs a budget." in refused.text
    assert not Run.objects.exists()


def test_wrong_fields_of_a_start_are_named(address: str, browser: Client):
    wrong = browser.post(address, SENT | {"repeats": "33", "baseline": "cyd", "parameters": '{"temperature": "hot"}'})
    assert {"repeats", "baseline", "parameters"} <= set(wrong.context["form"].errors)
    assert '<details id="advanced" open>' in wrong.text


def test_baseline_is_chosen_in_a_picker(address: str, browser: Client):
    page = browser.get(address).text
    choices = re.findall('<input type="radio" name="baseline" value="([^"]*)"( checked)?', page)
    assert choices == [("", " checked"), ("ada", ""), ("bob", "")]
    wrong = browser.post(address, SENT | {"repeats": "33", "baseline": "bob"}).text
    assert 'name="baseline" value="bob" checked' in wrong


def test_start_creates_the_run(address: str, browser: Client):
    started = browser.post(address, SENT | {"budget": "1.5", "baseline": "bob", "starts_at_once": "on"})
    run = Run.objects.get()
    assert started["Location"] == f"/benchmarks/r/{run.public_id}/"
    assert (run.repeats, run.budget, run.version.state) == (2, Decimal("1.5"), "frozen")
    assert list(run.entrants.values_list("model__slug", "is_baseline")) == [("ada", False), ("bob", True)]
