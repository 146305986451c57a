"""Answers of a run: differences and live cells of all of them, and grades by keys."""

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


ALL_ANSWERS = """
from accounts.models import User
from benchmarks import streaming
from benchmarks.models import Run
from models_registry.models import LanguageModel
from django.db import transaction
from tests.worlds.benchmarks import samples
"""
# Workers see the second run paused only: they would answer it.
TWO_RUNS = """
owner, models = User.objects.get(email="{email}"), list(LanguageModel.objects.order_by("pk")[:2])
version = samples.sample(owner, models).run.version
with transaction.atomic():
    live = samples.live_run(owner, version, models)
    Run.objects.filter(pk=live.pk).update(state="paused")
print(version.runs.get(name="First look").public_id, live.public_id)
"""
ONE_ANSWER = """
live = Run.objects.get(public_id="{run}")
item = live.items.select_related("entrant__model", "run").get(case__key="peru", entrant__position=1)
samples.answer(item, "It is Lima.", is_right=True)
streaming.publish(live.pk, [item.pk])
"""


def test_all_answers_show_differences_and_live_cells(arena: Arena, page: Page):
    email = make_member(arena)
    done, live = arena.shell(ALL_ANSWERS + TWO_RUNS.format(email=email)).split()
    sign_in(page, arena.url, email)
    page.goto(f"{arena.url}/benchmarks/r/{done}/matrix/")
    mark = page.locator("tr", has_text="france").locator("mark").first
    expect(mark).not_to_have_css("text-decoration-line", "underline")
    page.get_by_role("link", name="france").focus()
    expect(mark).to_have_css("text-decoration-line", "underline")
    page.locator("select[name=only]").select_option("failures-1")
    expect(page.locator("tbody tr")).to_have_count(5)
    page.clock.install()
    page.goto(f"{arena.url}/benchmarks/r/{live}/matrix/")
    cell = page.locator("tr", has_text="peru").locator("[data-sign]").nth(1)
    expect(cell).to_contain_text("not answered yet")
    arena.shell(ALL_ANSWERS + ONE_ANSWER.format(run=live))
    expect(cell).to_contain_text("correct")
    expect(cell).not_to_contain_text("Lima")
    page.clock.fast_forward("00:31")
    expect(cell).to_contain_text("It is Lima.")
