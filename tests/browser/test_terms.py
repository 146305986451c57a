"""Terms of use are accepted in the prompt box, by keyboard, and nothing that was typed is lost."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.helpers.axe import violations_in_each_theme
from tests.site import Reader
from tests.waiting import wait_for
from tests.worlds.arena import Arena

pytestmark = pytest.mark.browser
PUBLISH = """
from site_content.actions import publish_page
publish_page(page="terms", texts={texts}, must_be_accepted=True, by=None)
"""


def publish(arena: Arena, texts: dict[str, str]) -> None:
    """Publish terms, and wait until the web process shows them."""
    arena.shell(PUBLISH.format(texts=texts))
    reader = Reader(arena.url)
    wait_for(lambda: bool(reader.client.get("/api/v1/site/").json()["required_terms"]) == bool(texts))


@pytest.fixture
def terms(arena: Arena) -> Iterator[None]:
    publish(arena, {"en": "# Rules\n\nBe kind."})
    yield
    publish(arena, {})


@pytest.mark.usefixtures("terms")
def test_terms_are_accepted_by_keyboard_and_keep_the_text(arena: Arena, page: Page):
    page.goto(arena.url)
    page.locator("#prompt").fill("one two three")
    page.keyboard.press("Control+Enter")
    box = page.get_by_role("checkbox", name="I accept the terms of use.")
    expect(box).to_be_focused()  # the browser asks for it
    page.evaluate("document.querySelector('[name=accept_terms]').remove()")  # as another client might
    page.locator("#prompt").press("Control+Enter")
    expect(page.get_by_text("Please accept the terms of use first.")).to_be_visible()
    expect(page.locator("#prompt")).to_have_value("one two three")
    expect(box).to_be_focused()
    assert violations_in_each_theme(page) == []
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Read them in a new tab").click()
    expect(opened.value.get_by_role("heading", name="Rules")).to_be_visible()
    assert violations_in_each_theme(opened.value) == []
    box.focus()
    page.keyboard.press("Space")
    page.locator("#prompt").press("Control+Enter")
    page.wait_for_url("**/s/**")
    expect(page.locator(".answer", has_text="one two three")).to_have_count(2)
    expect(page.locator("[name=accept_terms]")).to_have_count(0)
