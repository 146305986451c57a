"""A member votes through a whole review with the keyboard."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.helpers.axe import violations
from tests.browser.helpers.members import make_member, sign_in
from tests.worlds.arena import Arena

pytestmark = pytest.mark.browser

PAIRS = 7
REVIEW = """
from accounts.models import User
from models_registry.models import LanguageModel
from reviews import actions
from tests.worlds.benchmarks import samples
owner = User.objects.get(email="{email}")
run = samples.sample(owner, LanguageModel.objects.order_by("pk")[:2]).run
terms = {{"title": "Which capital?", "instructions": "Prefer **short** answers.", "opinions_per_item": 3}}
polite = {{"text": "Which answer is more polite?", "steps": ["A much", "both alike", "B much"], "compares": True}}
hard = {{"text": "Was it hard to say?", "steps": ["easy", "hard"], "compares": False}}
terms |= {{"repeats_percent": 0, "least_seconds": 0, "questions": [polite, hard]}}
review = actions.open_review(actions.create_review(owner=owner, run=run, **terms))
print(review.get_absolute_url())
"""


def answer_questions(page: Page, *, skips: bool) -> None:
    expect(page.locator(".questions")).to_be_visible()
    page.wait_for_timeout(700)  # nor does it answer questions
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
    arena.shell(REVIEW.format(email=make_member(arena)))
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
            expect(page.get_by_text("1 of 7")).to_be_visible()
            page.keyboard.press("n")
            expect(page.locator(".vote")).to_be_visible()
        page.wait_for_timeout(700)  # a key pressed for scrolling when the bar appears does not vote
        page.keyboard.press(("ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown")[number % 4])
        answer_questions(page, skips=number > 0)
        expect(page.locator(".reveal")).to_be_focused()
        page.keyboard.press("n")
    expect(page.get_by_text("Nothing is left for you now")).to_be_visible()
    expect(page.get_by_text("7 of 7")).to_be_visible()
    assert violations(page) == []
