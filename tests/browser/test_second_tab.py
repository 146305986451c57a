"""Open tabs show changes of other tabs without losing typed text or the focus."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.helpers.arenas import ask
from tests.browser.helpers.axe import violations
from tests.browser.helpers.browser_inputs import new_context
from tests.fake_provider import PAUSE, FakeProvider
from tests.worlds.arena import Arena

pytestmark = pytest.mark.browser
TYPED = "what I was about to ask"


def typing(tab: Page, address: str) -> Page:
    tab.goto(address)
    tab.locator("#prompt").focus()
    tab.keyboard.type(TYPED)
    return tab


@pytest.fixture
def other_browser(browser: Browser, page: Page) -> Iterator[Page]:
    """The same person in another browser, which no broadcast between tabs reaches."""
    context = new_context(browser, reduced_motion="reduce")
    yield context.new_page()
    context.close()


def assert_still_typing(tab: Page) -> None:
    expect(tab.locator("#prompt")).to_have_value(TYPED)
    expect(tab.locator("#prompt")).to_be_focused()


def follow_up(page: Page, prompt: str = "four five six") -> None:
    page.locator("#prompt").fill(prompt)
    page.get_by_role("button", name="Follow up with both").click()


def test_second_tab_follows_first_tab(arena: Arena, fake_provider: FakeProvider, page: Page):
    ask(page, arena, "one two three")
    second, notice = typing(page.context.new_page(), page.url), "This session changed in another tab."
    box = second.locator("#composer")
    top = box.bounding_box()["y"]

    follow_up(page, "word " * 200 + f"{PAUSE} and more")
    expect(second.locator(".turn")).to_have_count(2)
    expect(second.locator("#announcer")).to_have_text(f"{notice} Both models are answering.")
    expect(second.locator(".turn").last.locator(".answer").first).to_contain_text("word word")  # while it grows
    fake_provider.go_on()
    expect(second.get_by_role("button", name="A is better")).to_be_visible()
    assert abs(box.bounding_box()["y"] - top) < 2

    page.get_by_role("button", name="A is better").click()
    expect(second.locator(".reveal")).to_be_visible()
    expect(second.locator("#announcer")).to_contain_text(f"{notice} Your vote is stored.")
    expect(second.locator(".vote")).to_have_count(0)
    expect(second.locator("#sessions .session-row").first).not_to_contain_text("names hidden")
    assert_still_typing(second)
    assert violations(second) == []

    page.locator("#prompt").fill("seven eight")
    page.get_by_role("button", name="New battle").click()
    expect(second.locator(".battle")).to_have_count(2)
    expect(second.get_by_role("button", name="Tie")).to_be_visible()
    assert_still_typing(second)
    page.get_by_role("button", name="Tie").wait_for()
    page.wait_for_load_state()  # the first tab listens again
    second.get_by_role("button", name="Follow up with both").click()  # of the new battle
    expect(second.locator(".battle").last.locator(".question").last).to_have_text(TYPED)
    expect(page.locator(".battle").last.locator(".question").last).to_have_text(TYPED)


def test_other_browser_catches_up_on_focus(arena: Arena, page: Page, other_browser: Page):
    ask(page, arena, "one two three")
    other_browser.context.add_cookies(page.context.cookies())
    typing(other_browser, page.url)
    follow_up(page)
    expect(page.locator(".turn")).to_have_count(2)
    page.get_by_role("button", name="Tie").click()
    page.locator(".reveal").wait_for()
    other_browser.wait_for_timeout(1600)  # longer than the throttle: a tab that checked just now does not check again
    expect(other_browser.locator(".turn")).to_have_count(1)
    other_browser.evaluate("dispatchEvent(new Event('focus'))")
    expect(other_browser.locator(".turn")).to_have_count(2)
    expect(other_browser.locator(".reveal")).to_be_visible()
    assert_still_typing(other_browser)
    with other_browser.expect_response("**/s/*/?known*") as looked:
        other_browser.wait_for_timeout(1600)
        other_browser.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    assert looked.value.status == 204  # no changes


def test_reveal_keeps_focus_when_its_battle_is_fetched_again(arena: Arena, page: Page):
    ask(page, arena, "one two three")
    page.get_by_role("button", name="Tie").click()
    expect(page.locator(".reveal")).to_be_focused()
    page.evaluate("""
        document.querySelector(".reveal").id = "replaced";
        document.querySelector(".battle").dataset.version = "an older one";
        const session = document.querySelector("[data-catch-up]").getAttribute("hx-get");
        new BroadcastChannel("sessions").postMessage(session);
    """)
    expect(page.locator("#replaced")).to_have_count(0)
    expect(page.locator(".reveal")).to_be_focused()


def test_simultaneous_clicks_are_handled_in_order(arena: Arena, page: Page):
    ask(page, arena, "one two three")
    page.locator("#prompt").fill("four five six")
    page.evaluate("document.querySelector('.vote button').click(); document.querySelector('[data-follow-up]').click()")
    expect(page.locator(".reveal")).to_be_visible()
    expect(page.get_by_text("After the vote, not counted")).to_be_visible()
    expect(page.locator(".turn")).to_have_count(2)
    expect(page.locator("#prompt")).to_have_value("")


def test_click_does_not_wait_for_pending_news(arena: Arena, page: Page):
    ask(page, arena, "one two three")
    second, held = page.context.new_page(), list[Route]()
    second.goto(page.url)
    second.get_by_role("button", name="Tie").wait_for()
    second.route("**/s/*/?known*", lambda route: route.continue_() if held else held.append(route))
    page.locator("#prompt").fill("seven eight")
    page.get_by_role("button", name="New battle").click()
    expect(page.locator(".battle")).to_have_count(2)
    while not held:
        second.wait_for_timeout(50)
    second.get_by_role("button", name="Tie").click()
    expect(second.locator(".reveal")).to_be_visible()
    expect(second.locator(".battle")).to_have_count(2)


def test_deleted_session_is_announced_in_other_tab_until_undone(
    arena: Arena,
    page: Page,
):
    ask(page, arena, "one two three")
    second = typing(page.context.new_page(), page.url)
    page.get_by_text("This session").click()
    page.get_by_role("link", name="Delete").click()
    gone = second.get_by_text("This session is gone")
    expect(gone).to_be_visible()
    assert_still_typing(second)
    assert violations(second) == []
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("back in your list")).to_be_visible()
    second.wait_for_timeout(1600)
    second.evaluate("dispatchEvent(new Event('focus'))")
    expect(gone).to_have_count(0)
