"""Refused forms show the reason and keep the input."""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.helpers.pictures import look
from tests.site import Reader
from tests.waiting import wait_for
from tests.worlds.arena import WEB, Arena

pytestmark = pytest.mark.browser
TYPED = "one two three"


def send(page: Page, text: str = TYPED) -> None:
    page.locator("#prompt").fill(text)
    page.get_by_role("button", name="Start the battle").click()


def assert_refused(page: Page, words: str, text: str = TYPED) -> None:
    expect(page.locator(".prompt-box [role=alert]")).to_contain_text(words)
    expect(page.locator("#prompt")).to_have_value(text)
    expect(page.get_by_role("button", name="Start the battle")).to_be_enabled()
    expect(page.locator("#notices .notice")).to_have_count(0)


def without_csrf_token(page: Page) -> None:
    page.context.clear_cookies(name="csrftoken")


def with_server_error(page: Page) -> None:
    page.route("**/", lambda route: route.fulfill(status=500) if route.request.method == "POST" else route.continue_())


def offline(page: Page) -> None:
    page.context.set_offline(True)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (without_csrf_token, "Your form has expired"),
        (with_server_error, "Something went wrong on our side"),
        (offline, "The arena did not respond"),
    ],
)
def test_refusal_is_shown_beside_typed_prompt(arena: Arena, page: Page, spoil: Callable[[Page], None], words: str):
    page.goto(arena.url)
    spoil(page)
    send(page)
    assert_refused(page, words)
    look(page, f"refused-{spoil.__name__}")
    page.locator("[data-dismiss]").click()
    expect(page.locator(".prompt-box [role=alert] .notice")).to_have_count(0)


def test_too_large_form_is_refused_with_reason(arena: Arena, page: Page):
    page.goto(arena.url)
    box = page.locator("#prompt")
    box.evaluate("box => (box.value = 'x'.repeat(1_200_000))")
    page.get_by_role("button", name="Start the battle").click()
    expect(page.locator(".prompt-box [role=alert]")).to_contain_text("The request is too large")
    assert box.evaluate("box => box.value.length") == 1_200_000


@pytest.fixture
def one_battle_an_hour(arena: Arena) -> Iterator[None]:
    arena.choose_limit("battle", "visitor", "1/hour")
    yield
    arena.choose_limit("battle", "visitor", "off")

    def newcomer_may_battle_twice() -> bool:
        newcomer = Reader(arena.url)
        return {newcomer.api("POST", "sessions/", {"prompt": TYPED}).status_code for _ in range(2)} == {201}

    wait_for(newcomer_may_battle_twice)


def test_rate_limited_visitor_is_told_how_long_to_wait(arena: Arena, one_battle_an_hour: None, page: Page):
    refusal, answers = page.locator(".prompt-box [role=alert] .notice"), page.locator(".pane")

    def is_refused() -> bool:
        page.goto(arena.url)
        send(page)
        expect(refusal.or_(answers.first)).to_be_visible()
        return refusal.is_visible()

    wait_for(is_refused, within=60)  # the limit is in force within five seconds
    assert_refused(page, "Try again in")
    expect(refusal).to_contain_text(re.compile(r"in (5\d|60) minutes"))


def test_prompt_stays_in_form_while_web_restarts(arena: Arena, page: Page):
    page.goto(arena.url)
    with arena.gone(WEB):
        send(page)
        assert_refused(page, "The arena did not respond")
    wait_for(arena.is_ready, within=120)
    send(page)
    expect(page.locator(".prompt-box [role=alert]")).not_to_contain_text("did not answer")


def test_character_counter_matches_server(arena: Arena, page: Page):
    page.goto(arena.url)
    box, counter = page.locator("#prompt"), page.locator(".counter")
    box.fill("\n" + "x" * 20_000 + " " * 50)
    expect(counter).to_have_text("20,000 / 20,000")
    expect(counter).not_to_have_class(re.compile("over"))
    box.fill("x" * 20_001)
    expect(counter).to_have_class(re.compile("over"))
    page.get_by_role("button", name="Start the battle").click()
    expect(page.get_by_text("Your prompt has 20,001 characters; the limit is 20,000.")).to_be_visible()
