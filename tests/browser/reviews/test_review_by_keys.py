"""A member votes through a whole review with the keyboard."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.helpers.axe import violations
from tests.browser.helpers.members import make_member, sign_in
from tests.worlds.arena import Arena

pytestmark = pytest.mark.browser

PAIRS = 12
SETTLED_MS = 700  # a key pressed for scrolling when the bar appears does not vote, nor answers questions
REVIEW = """
from accounts.models import User
from models_registry.models import LanguageModel
from benchmarks.actions import add_cases
from benchmarks.pasting import read_table
from reviews import actions
from tests.worlds.benchmarks import samples
owner = User.objects.get(email="{email}")
draft = samples.template(owner).versions.get()
more = {pairs} + 1 - draft.cases.count()  # the second model has no answer to one
rows = [f"land-{{n}}\\tLand {{n}}\\tTown {{n}}\\tfar" for n in range(more)]
add_cases(draft, read_table("\\n".join(["key\\tcountry\\texpected\\ttags", *rows])))
run = samples.finished_run(owner, draft, LanguageModel.objects.order_by("pk")[:2])
terms = {{"title": "Which capital?", "instructions": "Prefer **short** answers.", "opinions_per_item": 3}}
polite = {{"text": "Which answer is more polite?", "steps": ["A much", "both alike", "B much"], "compares": True}}
hard = {{"text": "Was it hard to say?", "steps": ["easy", "hard"], "compares": False}}
terms |= {{"repeats_percent": 0, "least_seconds": 0, "questions": [polite, hard]}}
review = actions.open_review(actions.create_review(owner=owner, run=run, **terms))
print(review.get_absolute_url())
"""


def answer_questions(page: Page, *, skips: bool) -> None:
    expect(page.locator(".questions")).to_be_visible()
    page.clock.fast_forward(SETTLED_MS)
    if skips:
        page.keyboard.press("0")
        return
    assert violations(page) == []
    for key in "21":
        page.keyboard.press(key)
    expect(page.locator(".questions :checked")).to_have_count(2)
    expect(page.get_by_role("button", name="Save the vote")).to_be_focused()
    page.keyboard.press("Enter")


def test_member_votes_through_a_review_by_keys(arena: Arena, page: Page):
    arena.shell(REVIEW.format(email=make_member(arena), pairs=PAIRS))
    page.clock.install()
    sign_in(page, arena.url, make_member(arena))
    page.goto(f"{arena.url}/reviews/")
    assert violations(page) == []
    page.get_by_role("link", name="Which capital?").click()
    expect(page.locator("strong")).to_have_text("short")
    expect(page.get_by_role("button", name="Begin")).to_be_focused()
    assert violations(page) == []
    page.keyboard.press("Enter")
    for number in range(PAIRS):
        expect(page.locator(".vote")).to_be_visible()
        if number == 1:
            page.keyboard.press("i")
            expect(page.get_by_text(f"1 of {PAIRS}")).to_be_visible()
            page.keyboard.press("n")
            expect(page.locator(".vote")).to_be_visible()
        page.clock.fast_forward(SETTLED_MS)
        page.keyboard.press(("ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown")[number % 4])
        answer_questions(page, skips=number > 0)
        expect(page.locator(".reveal")).to_be_focused()
        page.keyboard.press("n")
    expect(page.get_by_text("Nothing is left for you now")).to_be_visible()
    expect(page.get_by_text(f"{PAIRS} of {PAIRS}")).to_be_visible()
    assert violations(page) == []
