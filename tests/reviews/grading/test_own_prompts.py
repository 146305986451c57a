"""Reviews of own prompts, which models answer first."""

from collections.abc import Sequence
from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.actor import Actor
from battles.calls import PlannedCall
from benchmarks.models import RenderedPrompt, Reply, Run, RunItem
from benchmarks.worker.reuse import answer_key
from models_registry.models import LanguageModel, Price
from reviews import actions
from reviews.actions.own_prompts import split_prompts
from reviews.models import Review
from reviews.sweep import sweep
from tests import make
from tests.worlds.benchmarks import samples

pytestmark = pytest.mark.django_db
TERMS = {
    "title": "Ours", "audience": "members", "asks_for": "pairs", "plan": "all", "opinions_per_item": "1",
    "repeats_percent": "0", "least_seconds": "0", "takes_ties": "on",
}  # fmt: skip


def prepare(run: Run) -> None:
    """Store prompts and items as preparation does."""
    prompt, cases = run.version.prompts.get(), list(run.version.cases.all())
    for case in cases:
        messages = [{"role": "user", "content": case.variables["question"]}]
        RenderedPrompt.objects.create(prompt=prompt, case=case, digest="0" * 64, characters=4, messages=messages)
    RunItem.objects.bulk_create(
        RunItem(run=run, entrant=entrant, case=case, position=case.position, due_at=timezone.now())
        for case in cases
        for entrant in run.entrants.all()
    )


def test_prompts_are_lines_or_blocks():
    assert split_prompts("One?\nTwo?\r\nOne?\n") == ["One?", "Two?"]
    assert split_prompts("One\n  indented\n \n\n\nTwo?\n") == ["One\n  indented", "Two?"]


def test_review_opens_when_the_models_have_answered(owner: Actor, models: Sequence[LanguageModel]):
    browser, address = make.browser(owner), "/reviews/new/"
    assert "Ask about your own prompts" in browser.get("/reviews/").text
    assert 'name="prompts"' in browser.get(address).text
    data = {**TERMS, "prompts": "One?\nTwo?\nThree?", "models": ["ada", "bob"], "opens_when_done": "on"}
    estimate = browser.post(address, {**data, "estimate": "1"})
    assert (estimate.status_code, Run.objects.count()) == (200, 0)
    assert estimate.context["estimate"].items == 6  # each model answers each prompt once

    made = browser.post(address, data)
    review = Review.objects.get()
    assert (made.status_code, made["Location"]) == (303, review.settings_url)
    run = review.run
    assert run is not None
    assert (run.entrant_count, run.version.case_count, run.version.template.visibility) == (2, 3, "private")
    assert "opens by itself" in browser.get(review.settings_url).text
    sweep()
    review.refresh_from_db()
    assert review.state == "draft"

    prepare(run)
    for item in RunItem.objects.filter(run=run).select_related("entrant__model", "run"):
        samples.answer(item, f"Answer {item.pk}.", is_right=True)
    Run.objects.filter(pk=run.pk).update(state="done", finished_at=timezone.now())
    sweep()
    review.refresh_from_db()
    assert (review.state, review.item_count) == ("open", 3)


def test_draft_that_cannot_open_stays(owner: Actor, models: Sequence[LanguageModel]):
    review = actions.ask_models_first(owner=owner.user, team=None, prompts=["One?"], models=models)
    Run.objects.update(state="done")  # without answers
    sweep()
    review.refresh_from_db()
    assert (review.state, review.opens_when_done) == ("draft", False)


def test_refusals_are_shown_at_their_fields(owner: Actor):
    paid = make.model(slug="paid")
    Price.objects.create(model=paid, input_per_million=1, output_per_million=2)
    browser = make.browser(owner)
    data = {**TERMS, "prompts": "One?", "models": [paid.slug]}
    refused = browser.post("/reviews/new/", data)
    assert (refused.status_code, list(refused.context["prompts"].errors)) == (422, ["budget"])
    late = {**data, "models": [], "closes_at": "2001-01-01T12:00"}
    assert list(browser.post("/reviews/new/", late).context["prompts"].errors) == ["models"]
    assert not Run.objects.exists()
    assert not Review.objects.exists()


def test_estimate_says_what_reuse_saves(owner: Actor, models: Sequence[LanguageModel]):
    plan = PlannedCall(models[0], [{"role": "user", "content": "One?"}])
    Reply.objects.create(model=models[0], owner=owner.user, text="Yes.", answer_key=answer_key(plan, 0))
    data = {**TERMS, "prompts": "One?\nTwo?", "models": ["ada", "bob"], "estimate": "1"}
    for days, calls in (("", 4), ("7", 3)):
        page = make.browser(owner).post("/reviews/new/", {**data, "reuse_days": days})
        assert (page.context["estimate"].items, page.context["saved"].items) == (calls, 4 - calls)
    Reply.objects.update(created_at=timezone.now() - timedelta(days=8))
    page = make.browser(owner).post("/reviews/new/", {**data, "reuse_days": "7"})
    assert page.context["saved"].items == 0


def test_api_asks_models_first(owner: Actor, models: Sequence[LanguageModel]):
    api, body = (
        make.api(owner.user),
        {"prompts": ["One?", "Two?"], "models": ["ada"], "asks_for": "stars", "open": True},
    )
    made = api.post("/api/v1/reviews/", body, "application/json")
    assert made.status_code == 201, made.json()
    review = made.json()
    assert (review["state"], review["opens_when_done"], review["title"]) == ("draft", True, "One?")
    assert Run.objects.get().public_id == review["run"]
    for wrong in ({"models": ["none"]}, {"run": review["run"]}, {"prompts": []}):
        assert api.post("/api/v1/reviews/", {**body, **wrong}, "application/json").status_code == 400
