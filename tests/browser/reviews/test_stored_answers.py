"""The page of a review's battle: keys, and another tab of the same session."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.helpers.axe import violations
from tests.browser.helpers.members import make_member, sign_in
from tests.worlds.arena import Arena

pytestmark = pytest.mark.browser

BATTLES = """
from accounts.actor import Actor
from accounts.models import User
from models_registry.models import LanguageModel
from tests import make
person, models = Actor(user=User.objects.get(email="{email}")), LanguageModel.objects.order_by("pk")[:2]
text = "The capital of **Peru** is Lima.\\n\\n1. It lies on the coast.\\n2. It is old."
battles = [make.stored_battle(*models, actor=person, text=text) for _ in range(2)]
print(*(battle.get_absolute_url() for battle in battles))
"""


def test_stored_answers_are_voted_on_by_keys(arena: Arena, page: Page):
    email = make_member(arena)
    first, second = arena.shell(BATTLES.format(email=email)).split()
    sign_in(page, arena.url, email)
    page.goto(arena.url + first)
    expect(page.locator(".battle")).to_have_count(1)
    expect(page.locator("#composer")).to_have_count(0)
    assert violations(page) == []
    other = page.context.new_page()
    other.goto(arena.url + first)
    page.wait_for_timeout(700)  # a key pressed for scrolling when the bar appears does not vote
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".reveal")).to_be_focused()
    expect(page.locator(".reveal .badge")).to_have_text("Your vote")
    expect(page.locator("[data-next-battle]")).to_have_count(0)
    assert violations(page) == []
    expect(other.locator(".reveal")).to_be_visible()
    expect(other.locator(".battle")).to_have_count(1)
    page.get_by_role("link", name="All your votes in this review").click()
    expect(page.locator(".battle")).to_have_count(2)
    page.goto(arena.url + second)
    expect(page.locator(".vote")).to_be_visible()
