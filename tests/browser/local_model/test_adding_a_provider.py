"""An administrator adds a provider and battles its model, which a real local server answers."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.helpers.administration import sign_in
from tests.browser.helpers.arenas import publish
from tests.browser.helpers.browser_inputs import new_context
from tests.site import Reader
from tests.waiting import wait_for
from tests.worlds.arena import Arena

pytestmark = pytest.mark.browser

PAUSE_CELLAR_MODEL = """
from models_registry.models import LanguageModel
LanguageModel.objects.filter(name="Cellar model").update(status="paused")
"""


@pytest.fixture(autouse=True)
def _added_model_is_paused(arena: Arena) -> Iterator[None]:
    """Other tests with this arena expect the models that came with it."""
    yield
    arena.shell(PAUSE_CELLAR_MODEL)
    visitor = Reader(arena.url)
    wait_for(lambda: "Cellar model" not in visitor.get("/api/v1/models/?drawable=true").text)


def test_added_provider_is_tested_battled_and_listed(arena: Arena, page: Page, browser: Browser):
    sign_in(arena, page)
    page.goto(f"{arena.url}/admin/")
    page.locator("#content").get_by_role("link", name="Providers", exact=True).click()
    page.get_by_role("link", name="Add provider").click()
    page.get_by_role("link", name="llama.cpp").click()
    page.get_by_label("Name:").fill("The machine in the cellar")
    page.get_by_label("Base URL:").fill(arena.services["ARENA_LOCAL_MODEL_URL"])
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("button", name="Get the list of models").click()
    page.get_by_label("smollm2-135m").check()
    page.get_by_role("button", name="Add the ticked models").click()

    page.get_by_role("textbox", name="Display name").fill("Cellar model")
    page.get_by_label("Sampling weight").fill("100000")  # drawn into every battle
    page.get_by_role("textbox", name="Parameters").fill('{"max_tokens": 40}')  # small models repeat themselves
    page.get_by_role("button", name="Save and continue editing").click()
    page.get_by_role("link", name="Test this model").click()
    page.get_by_label("Prompt").fill("Why is the sea salty?")
    page.get_by_role("button", name="Ask the model").click()
    expect(page.get_by_text("The model answered")).to_be_visible()
    page.get_by_role("button", name="Activate this model").click()
    expect(page.locator(".field-drawn_now .readonly")).to_have_text("yes")

    voter = new_context(browser).new_page()
    voter.goto(arena.url)
    voter.get_by_role("textbox").fill("Name three rivers.")
    voter.keyboard.press("Enter")
    voter.wait_for_url("**/s/**")
    better = voter.get_by_role("button", name="A is better")
    expect(better).to_be_visible()
    assert "Cellar model" not in voter.content()
    better.click()
    names = voter.locator(".reveal .card h3 bdi")
    expect(names).to_have_count(2)
    assert "Cellar model" in names.all_inner_texts()

    publish(arena)
    voter.goto(f"{arena.url}/leaderboard/")
    expect(voter.locator("#board bdi", has_text="Cellar model")).to_have_count(1)
    voter.context.close()
