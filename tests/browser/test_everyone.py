"""Everybody can use it: by keyboard alone, reading from right to left, without motion."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.arenas import ask, echoing  # noqa: F401 (a fixture)
from tests.faults.running import Arena

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]


def test_an_answer_from_right_to_left_is_read_so_and_nothing_moves_for_who_wants_no_motion(
    echoing: Arena,  # noqa: F811
    page: Page,
):
    ask(page, echoing, "لماذا السماء زرقاء؟")
    written = page.locator(".answer > [id$='-done']").first
    assert written.evaluate("element => getComputedStyle(element).direction") == "rtl"
    assert page.locator(".pane-tabs").evaluate("element => getComputedStyle(element).direction") == "ltr"
    page.get_by_role("button", name="Tie").click()
    lasts = "element => parseFloat(getComputedStyle(element).animationDuration)"
    assert page.locator(".card").first.evaluate(lasts) < 0.001
    page.emulate_media(reduced_motion="no-preference")
    assert page.locator(".card").first.evaluate(lasts) > 0.1


def test_a_battle_from_the_first_tab_to_the_names_by_keyboard_alone(echoing: Arena, page: Page):  # noqa: F811
    page.goto(f"{echoing.url}/leaderboard/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()
    page.goto(echoing.url)
    expect(page.locator("#prompt")).to_be_focused()
    page.keyboard.type("one two three")
    page.keyboard.press("Enter")
    page.wait_for_url("**/s/**")
    expect(page.locator("#announcer")).not_to_be_empty(timeout=60_000)  # said once: the answers are there
    first = page.locator(".vote button").first
    expect(first).to_be_visible()
    first.focus()
    order = []
    for _ in range(4):
        order.append(page.evaluate("document.activeElement.value"))
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
        page.keyboard.press("Tab")
    assert order == ["left", "tie", "both_bad", "right"]
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".reveal")).to_be_focused()
    expect(page.locator(".said")).to_contain_text("You found the right answer better.")
