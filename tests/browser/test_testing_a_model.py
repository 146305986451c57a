"""An administrator adds a provider, picks a model and tests it."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.helpers.administration import sign_in
from tests.browser.helpers.arenas import draw_only_echoes
from tests.browser.helpers.browser_inputs import Hand
from tests.fake_provider import PAUSE, FakeProvider
from tests.worlds.arena import Arena

pytestmark = pytest.mark.browser


@pytest.fixture(autouse=True)
def _added_models_are_paused(arena: Arena) -> Iterator[None]:
    """Later tests expect only the arena's two models."""
    yield
    draw_only_echoes(arena)


@pytest.mark.parametrize("hand", ["finger", "keys"], indirect=True)  # by mouse: local_model/test_adding_a_provider.py
def test_preset_provider_and_tested_model_become_drawable(arena: Arena, hand: Hand, fake_provider: FakeProvider):
    page = hand.page
    fake_provider.serves = {"data": [{"id": "slow"}, {"id": "honest"}]}
    sign_in(arena, page)
    hand.press(page.locator("#content").get_by_role("link", name="Providers", exact=True))
    hand.press(page.get_by_role("link", name="Add provider"))
    hand.press(page.get_by_role("link", name="llama.cpp"))
    expect(page.get_by_label("Base URL:")).to_have_value("http://127.0.0.1:8080/v1")
    hand.write(page.get_by_label("Name:"), "The other server")
    hand.write(page.get_by_label("Base URL:"), fake_provider.base_url.replace("/v1", f"/{hand.name}/v1"))
    hand.press(page.get_by_role("button", name="Save", exact=True))
    hand.press(page.get_by_role("button", name="Get the list of models"))
    hand.tick(page.get_by_label("slow"))
    hand.press(page.get_by_role("button", name="Add the ticked models"))
    hand.press(page.get_by_role("link", name="Test this model"))
    hand.write(page.get_by_label("Prompt"), f"<b>one</b> two {PAUSE} " + "three four five " * 20)
    hand.press(page.get_by_role("button", name="Ask the model"))

    answer = page.locator("[data-of=text] pre")
    expect(answer).to_have_text("<b>one</b> two ")
    expect(page.get_by_text("The model is answering")).to_be_visible()
    fake_provider.go_on()
    expect(page.get_by_text("The model answered")).to_be_visible()
    expect(answer).to_have_text(re.compile(rf"^<b>one</b> two {PAUSE} (three four five ){{20}}"))
    # The server reports 7 tokens for the prompt, which are less than a quarter of the estimate.
    expect(page.locator("#model-test").get_by_role("row", name="Tokens")).to_contain_text("113 sent, 63 written")
    hand.press(page.get_by_role("button", name="Activate this model"))
    expect(page.locator(".field-drawn_now .readonly")).to_have_text("yes")


def test_model_test_without_javascript_shows_answer_on_reload(arena: Arena, page: Page):
    sign_in(arena, page)
    page.route("**/*.js", lambda route: route.abort())
    page.goto(f"{arena.url}/admin/models_registry/languagemodel/?q=left-one")
    page.get_by_role("link", name="Left one").click()
    page.get_by_role("link", name="Test this model").click()
    page.get_by_role("button", name="Ask the model").click()
    for _ in range(200):
        if page.get_by_text("The model answered").is_visible():
            break
        page.wait_for_timeout(200)
        page.reload()
    expect(page.locator("[data-of=text] pre")).to_have_text("Introduce yourself in two sentences. ")


def test_several_models_are_tested_in_one_table(arena: Arena, page: Page):
    sign_in(arena, page)
    page.goto(f"{arena.url}/admin/models_registry/languagemodel/")
    page.get_by_role("link", name="Test all", exact=True).click()
    page.get_by_role("link", name="Tick none").click()
    for name in ("Left one", "Right one"):
        page.get_by_label(name, exact=True).check()
    page.get_by_role("button", name="Test the ticked models").click()
    expect(page.get_by_text("2 of 2 tests are over.")).to_be_visible()
    expect(page.get_by_role("link", name="answered", exact=True)).to_have_count(2)
