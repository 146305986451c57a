"""Answers of a run are graded by keys: p, f and 1 to 5; arrow keys lead to other cases and repeats."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.helpers.members import make_member, sign_in
from tests.worlds.arena import Arena

pytestmark = pytest.mark.browser

RUN = """
from accounts.models import User
from models_registry.models import LanguageModel
from tests.worlds.benchmarks import samples
sample = samples.sample(User.objects.get(email="{email}"), list(LanguageModel.objects.order_by("pk")[:1]))
again = sample.item
again.pk, again.repeat = None, 1
again.save()
print(sample.run.public_id, sample.item.pk, again.pk)
"""


def test_answers_are_graded_and_left_by_keys(arena: Arena, page: Page):
    email = make_member(arena)
    run, first, repeat = arena.shell(RUN.format(email=email)).split()
    sign_in(page, arena.url, email)
    items = f"{arena.url}/benchmarks/r/{run}/items/"
    page.goto(f"{items}{first}/")
    for key, button in (("p", "#grade-p"), ("f", "#grade-f"), ("4", "#grade-4")):
        page.keyboard.press(key)
        expect(page.locator(button)).to_have_attribute("aria-pressed", "true")
    page.locator("[name=comment]").press("p")  # typing is no grade
    expect(page.locator("#grade-4")).to_have_attribute("aria-pressed", "true")
    page.locator("h1").click()
    for key, case in (("ArrowDown", "japan"), ("ArrowUp", "france")):
        page.keyboard.press(key)
        expect(page.locator("#item")).to_contain_text(case)
    page.keyboard.press("ArrowRight")
    page.wait_for_url(f"{items}{repeat}/")
    page.keyboard.press("ArrowLeft")
    page.wait_for_url(f"{items}{first}/")
    grades = "SELECT kind, value FROM benchmarks_grade WHERE item_id = %s ORDER BY id"
    assert arena.query(grades, int(first)) == [("pass", 1), ("pass", 0), ("stars", 4)]
