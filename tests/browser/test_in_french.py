"""French words are longer: they fit, and the language switch is found."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.helpers.browser_inputs import Hand, new_context
from tests.worlds.arena import Arena

pytestmark = pytest.mark.browser

PAGES = [
    "/", "/?mode=side_by_side", "/?mode=compare", "/?mode=direct", "/?mode=auto", "/sessions/", "/uploads/",
    "/leaderboard/",
    "/leaderboard/charts/", "/leaderboard/compare/", "/leaderboard/method/", "/accounts/login/", "/accounts/signup/",
    "/accounts/password/reset/", "/nowhere/",
]  # fmt: skip
BEYOND_THE_EDGE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture
def phone(browser: Browser) -> Iterator[Page]:
    context = new_context(browser, locale="fr-FR", viewport={"width": 320, "height": 640})
    yield context.new_page()
    context.close()


def test_french_pages_fit_small_phone(phone: Page, arena: Arena):
    too_wide = {}
    for path in PAGES:
        phone.goto(arena.url + path)
        expect(phone.locator("html")).to_have_attribute("lang", "fr")
        if beyond := phone.evaluate(BEYOND_THE_EDGE):
            too_wide[path] = beyond
    assert too_wide == {}


def test_french_battle_reveals_names_on_small_phone(phone: Page, arena: Arena):
    phone.goto(arena.url)
    phone.locator("#prompt").fill("Pourquoi le ciel est-il bleu ?")
    phone.get_by_role("button", name="Lancer le duel").click()
    phone.get_by_role("button", name="Égalité").click()
    expect(phone.get_by_text("Vous les avez trouvées à égalité.")).to_be_visible()
    assert phone.evaluate(BEYOND_THE_EDGE) == 0


def test_language_switch_keeps_address(hand: Hand, arena: Arena):
    page = hand.page
    page.goto(arena.url + "/leaderboard/?search=a")
    for language, code in (("Français", "fr"), ("English", "en")):
        hand.press(page.get_by_role("button", name=language))
        expect(page.locator("html")).to_have_attribute("lang", code)
        expect(page).to_have_url(re.compile(r"/leaderboard/\?search=a$"))
        expect(page.get_by_role("button", name=language)).to_have_attribute("aria-current", "true")
