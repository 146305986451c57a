"""Looks: one primary button at a time, visible choices, large letters, and a header that fits."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.helpers.arenas import ask, rename_session
from tests.browser.helpers.browser_inputs import new_context
from tests.browser.helpers.members import make_member, sign_in
from tests.waiting import wait_for
from tests.worlds.arena import Arena

pytestmark = pytest.mark.browser

# Labels of the buttons in the accent colour.
PROMINENT = """buttons => buttons
  .filter(button => button.checkVisibility() && getComputedStyle(button).backgroundColor === "rgb(28, 107, 80)")
  .map(button => button.firstChild.textContent.trim())"""
LIGHTNESS = """element => getComputedStyle(element).backgroundColor
  .match(/\\d+/g).slice(0, 3).reduce((sum, one) => sum + Number(one), 0)"""

PHONE_WIDTHS = [320, 360, 375, 390, 412, 430, 480, 640]
# Pairs of the header's controls or pictures that overlap, and those that the page's edges cut off.
MISPLACED = """header => {
  const shown = [...header.querySelectorAll("a, button, .brand .icon")].filter(one => one.checkVisibility());
  const name = one => one.textContent.trim() || one.getAttribute("class");
  const boxes = shown.map(one => [one, name(one), one.getBoundingClientRect()]);
  const cut = boxes.filter(([, , box]) => box.left < 0 || box.right > innerWidth).map(([, label]) => label);
  const overlapping = boxes.flatMap(([one, label, box], index) => boxes.slice(index + 1)
    .filter(([other, , its]) => !one.contains(other)
      && Math.min(box.right, its.right) - Math.max(box.left, its.left) > 0.5
      && Math.min(box.bottom, its.bottom) - Math.max(box.top, its.top) > 0.5)
    .map(([, its]) => `${label} and ${its}`));
  return [...cut, ...overlapping];
}"""


def prominent_labels(page: Page) -> list[str]:
    # The content security policy forbids the eval() of wait_for_function.
    wait_for(lambda: page.evaluate("document.getAnimations().every((one) => one.playState !== 'running')"))
    return page.locator(".button").evaluate_all(PROMINENT)


def test_one_button_is_prominent_at_a_time(arena: Arena, page: Page):
    ask(page, arena, "one two three")
    page.mouse.click(1, 1)
    assert prominent_labels(page) == []  # no button competes with the vote
    page.locator("#prompt").focus()
    assert prominent_labels(page) == ["Follow up with both"]
    page.get_by_role("button", name="A is better").click()
    expect(page.locator(".verdict-text")).to_be_visible()
    assert prominent_labels(page) == ["Next battle"]
    page.locator("#prompt").focus()
    assert prominent_labels(page) == ["New battle"]
    page.get_by_role("link", name="Follow up").click()
    assert prominent_labels(page) == ["Follow up with both"]
    page.get_by_role("link", name="Next battle").click()
    assert prominent_labels(page) == ["New battle"]
    page.reload()
    assert prominent_labels(page) == ["Next battle"]
    expect(page.locator(".composer kbd").filter(visible=True)).to_have_count(1)
    page.locator("#prompt").fill("four five six")
    page.keyboard.press("Enter")
    expect(page.locator(".battle")).to_have_count(2)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_chosen_mode_is_lighter_than_its_track(arena: Arena, page: Page, scheme: str):
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.goto(arena.url)
    track, chosen = (
        page.locator(".modes").evaluate(LIGHTNESS),
        page.locator(".modes [aria-current]").evaluate(LIGHTNESS),
    )
    assert chosen > track + 20


def test_docked_sidebar_leaves_footer_free(arena: Arena, page: Page):
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(arena.url)
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    sidebar, footer = (page.locator(one).bounding_box() for one in ("#sessions", ".bottom"))
    assert sidebar is not None
    assert footer is not None
    assert footer["x"] >= sidebar["x"] + sidebar["width"]
    assert footer["y"] + footer["height"] <= 720.5


@pytest.mark.parametrize(("width", "rows"), [(320, [2, 2, 1]), (390, [3, 2]), (600, [3, 2])])
def test_phone_modes_fill_rows(arena: Arena, page: Page, width: int, rows: list[int]):
    page.set_viewport_size({"width": width, "height": 740})
    page.goto(arena.url)
    tops = page.locator(".modes a").evaluate_all("all => all.map(one => one.offsetTop)")
    assert [tops.count(top) for top in sorted(set(tops))] == rows


def test_phone_long_title_takes_two_lines(arena: Arena, page: Page):
    page.set_viewport_size({"width": 360, "height": 740})
    ask(page, arena, "one two three")
    rename_session(page, "Explain to a curious ten-year-old why the sky is blue, and why it is red in the evening.")
    title = page.locator("#session-title")
    assert title.evaluate("title => title.clientHeight <= 2.1 * parseFloat(getComputedStyle(title).lineHeight)")


def test_phone_with_doubled_text_fits(arena: Arena, page: Page):
    page.set_viewport_size({"width": 180, "height": 370})  # a phone with letters twice as large
    ask(page, arena, "one two three")
    assert page.evaluate("document.documentElement.scrollWidth") <= 180
    assert page.locator(".vote").evaluate("vote => getComputedStyle(vote).position") == "static"
    page.goto(arena.url)
    assert page.evaluate("document.documentElement.scrollWidth") <= 180


@pytest.mark.parametrize("locale", ["en-US", "fr-FR"])
def test_header_fits_every_phone(arena: Arena, browser: Browser, locale: str):
    context = new_context(browser, locale=locale)
    page, misplaced = context.new_page(), {}
    for account in ("", make_member(arena)):
        if account:
            sign_in(page, arena.url, account)
        page.goto(arena.url)
        for width in PHONE_WIDTHS:
            page.set_viewport_size({"width": width, "height": 740})
            if elements := page.locator(".top").evaluate(MISPLACED):
                misplaced[width, account] = elements
    context.close()
    assert misplaced == {}
