from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Playwright, expect

from tests.browser.conftest import ENVIRONMENT
from tests.browser.helpers.arenas import ask
from tests.browser.helpers.members import make_member, sign_in
from tests.worlds.arena import Arena
from tests.worlds.chromium import ARGUMENTS, CHROMIUM

pytestmark = [pytest.mark.browser, pytest.mark.faults]

PROMPT, DRAFT = "The gazelle's private question", "A draft about the okapi"


@pytest.fixture(scope="module")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """Chromium with its back-forward cache, which Playwright disables."""
    browser = playwright.chromium.launch(
        executable_path=CHROMIUM, args=ARGUMENTS, env=ENVIRONMENT, ignore_default_args=["--disable-back-forward-cache"]
    )
    yield browser
    browser.close()


def kept(page: Page) -> str:
    return page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])")


def test_going_back_after_sign_out_shows_nothing(arena: Arena, page: Page):
    email = make_member(arena)
    secrets = [email, "gazelle", "okapi"]
    sign_in(page, arena.url, email)
    ask(page, arena, PROMPT)
    seen = ["/sessions/", "/leaderboard/", "/accounts/email/", "/accounts/data/", "/"]
    for path in seen:
        page.goto(arena.url + path)
        assert any(secret in page.content() for secret in secrets), path
    page.locator("#prompt").fill(DRAFT)
    page.goto(f"{arena.url}/accounts/logout/")
    page.locator("main").get_by_role("button", name="Sign out").click()
    expect(page.locator(".account-link")).to_have_text("Sign in")
    shown = []
    for _ in range(len(seen) + 4):  # also the battle, and the pages before it
        page.go_back()
        shown += [(page.url, secret) for secret in secrets if secret in page.content() + kept(page)]
        typed = page.locator("textarea").evaluate_all("boxes => boxes.map((box) => box.value).join()")
        shown += [(page.url, secret) for secret in secrets if secret in typed]
    assert shown == []
