"""Texts by people and models run no script and fetch nothing; the page fixture reports blocked attempts, too."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.helpers.arenas import ask, draw_only_echoes, vote
from tests.browser.helpers.browser_inputs import new_context
from tests.browser.helpers.members import make_member, sign_in
from tests.browser.helpers.payloads import PAYLOADS, ROUNDS
from tests.fake_provider import FakeProvider
from tests.worlds.arena import Arena, arena_with

pytestmark = pytest.mark.browser

# Every element receives the events of hovering, focusing and clicking.
PROVOKE = """() => {
  for (const element of document.querySelectorAll("main *")) {
    for (const name of ["mouseover", "pointerenter", "focus", "animationstart", "toggle", "error", "load"])
      element.dispatchEvent(new Event(name));
  }
  return window.ran === true;
}"""
ODD_LINKS = """() => [...document.querySelectorAll("main a[href]")].map((a) => a.protocol)
  .filter((protocol) => !["http:", "https:", "mailto:"].includes(protocol))"""
FOREIGN_ATTRIBUTES = """() => [...document.querySelectorAll(".answer *")].flatMap((element) =>
  element.getAttributeNames().filter((name) => /^(on|style$|srcdoc$|(data-)?hx-|sse-)/.test(name)
    && !element.closest("[id$='-done'] ~ *")))"""


@pytest.fixture(scope="module")
def arena(_fake_provider: FakeProvider) -> Iterator[Arena]:
    """Arena of its own: models, categories and boards are named by payloads."""
    with arena_with(_fake_provider) as arena:
        vote(arena)
        draw_only_echoes(arena)
        yield arena


ALARM = "for (const name of ['alert', 'confirm', 'prompt', 'print']) window[name] = () => (window.ran = true);"


@pytest.fixture
def page_with_alarm(page: Page) -> Page:
    page.add_init_script(ALARM)
    return page


def assert_harmless(page: Page, address: str) -> None:
    response = page.goto(address)
    assert response is not None
    assert response.status < 400, address
    assert "alert(1)" in page.content()
    assert page.evaluate(PROVOKE) is False
    assert page.evaluate(ODD_LINKS) == []


def test_payloads_are_many_and_distinct():
    assert len(set(PAYLOADS)) >= 150


def test_payloads_run_without_protection(browser: Browser):
    context = new_context(browser, offline=True)
    page = context.new_page()
    ran = 0
    for payload in PAYLOADS[:54]:
        page.set_content(f"<main></main><script>{ALARM}</script>")
        page.locator("main").evaluate("(main, html) => (main.innerHTML = html)", payload)
        ran += page.evaluate(PROVOKE)
    context.close()
    assert ran > 25


def test_payloads_in_prompts_and_answers_do_not_run(arena: Arena, page_with_alarm: Page):
    for start in range(0, len(PAYLOADS), 40):
        ask(page_with_alarm, arena, "\n\n".join(PAYLOADS[start : start + 40]))
        assert page_with_alarm.evaluate(PROVOKE) is False
        assert page_with_alarm.evaluate(ODD_LINKS) == []
        assert page_with_alarm.evaluate(FOREIGN_ATTRIBUTES) == []
        assert (
            page_with_alarm.locator(
                ":is(.answer, .question) :is(script, iframe, object, embed, form, base, link, style, img)"
            ).count()
            == 0
        )
        for link in page_with_alarm.locator(".answer a[href]").all()[:5]:
            assert link.get_attribute("rel") == "noopener noreferrer nofollow"
        assert_harmless(page_with_alarm, page_with_alarm.url)


def test_payloads_in_names_titles_and_files_do_not_run(arena: Arena, page_with_alarm: Page):
    email = make_member(arena)
    sign_in(page_with_alarm, arena.url, email)
    arena.shell(f"from tests.browser.helpers import injected; injected.fill({email!r})")
    for part in range(ROUNDS):
        arena.shell(f"from tests.browser.helpers import injected; injected.rename_models({part})")
        for address in ("", "charts/", "models/gold/", "compare/gold/silver/", "compare/"):
            assert_harmless(page_with_alarm, f"{arena.url}/leaderboard/{address}")
    for page_number in range(1, len(PAYLOADS) // 50 + 2):
        assert_harmless(page_with_alarm, f"{arena.url}/sessions/?page={page_number}")
        assert_harmless(page_with_alarm, f"{arena.url}/uploads/?page={page_number}")
    assert_harmless(page_with_alarm, f"{arena.url}/sessions/?search=in+comments")
    page_with_alarm.get_by_role("link", name="alert(1) in comments").first.click()
    page_with_alarm.wait_for_url("**/s/**")
    assert page_with_alarm.locator("[name=comment]").count() > len(PAYLOADS) / 13
    assert_harmless(page_with_alarm, page_with_alarm.url)
    for number in range(0, len(PAYLOADS), 8):
        assert_harmless(page_with_alarm, f"{arena.url}/leaderboard/?board=category:payload-{number}")
    assert_harmless(page_with_alarm, f"{arena.url}/?mode=compare&all=1")
    assert page_with_alarm.locator(".model-row").count() > len(PAYLOADS) / 2
    assert_harmless(page_with_alarm, f"{arena.url}/?mode=side_by_side")
