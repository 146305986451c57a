"""Pages end with the stored text without a reload, after faults of the connection or the arena."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import httpx2
import pytest
from playwright.sync_api import Page, expect

from tests.browser.helpers.pictures import look
from tests.fake_provider import PAUSE, FakeProvider
from tests.faults.battling import LONG
from tests.waiting import wait_for
from tests.worlds.arena import ANSWERS, POSTGRES, VALKEY, WEB, Arena

pytestmark = [pytest.mark.browser, pytest.mark.faults]


@pytest.fixture(autouse=True)
def _arena_recovers(arena: Arena) -> Iterator[None]:
    """Other files share the arena."""
    yield
    wait_for(arena.is_ready)


# Answers wait in the middle until the test calls `go_on`.
HALTING = LONG.replace("word200", f"{PAUSE} word200")


def start(arena: Arena, page: Page, prompt: str = HALTING) -> None:
    page.goto(arena.url)
    page.get_by_role("textbox").fill(prompt)
    page.keyboard.press("Enter")
    page.wait_for_url("**/s/**")
    expect(page.locator(".pane .answer").first).to_contain_text("word20")


def shown(page: Page) -> list[str]:
    expect(page.get_by_role("button", name="A is better")).to_be_visible()
    return [text.strip() for text in page.locator(".pane [id$=-done]").all_text_contents()]


def stored(arena: Arena, page: Page) -> list[str]:
    battle_id = re.search(r'id="battle-([^"]+)"', page.content())
    assert battle_id is not None
    battle = page.request.get(f"{arena.url}/api/v1/battles/{battle_id[1]}/").json()
    return [answer["text"].strip() for answer in battle["turns"][0]["answers"]]


def reload(arena: Arena, page: Page) -> None:
    page.reload()


def go_offline_briefly(arena: Arena, page: Page) -> None:
    page.context.set_offline(True)
    page.wait_for_timeout(1500)
    page.context.set_offline(False)


@pytest.mark.parametrize(
    "disturb",
    [
        reload,
        go_offline_briefly,
        lambda arena, page: arena.signal(WEB),
        lambda arena, page: arena.signal(ANSWERS),
        lambda arena, page: arena.signal(VALKEY),
    ],
    ids=["reload", "line", "web", "worker", "valkey"],
)
def test_disturbed_page_ends_with_stored_text(
    arena: Arena, fake_provider: FakeProvider, page: Page, disturb: Callable[[Arena, Page], object]
):
    start(arena, page)
    disturb(arena, page)
    fake_provider.go_on()
    assert shown(page) == stored(arena, page) == [HALTING, HALTING]
    assert page.locator(".pane [id$=-open]").all_text_contents() == ["", ""]


def test_lost_connection_is_announced_until_restored(arena: Arena, fake_provider: FakeProvider, page: Page):
    start(arena, page)
    lost = page.locator(".disconnected")
    in_vain: list[str] = []
    page.on("requestfailed", lambda request: in_vain.append(request.url))
    with arena.gone(WEB):
        expect(lost).to_be_visible()
        expect(lost).to_have_text("The connection was lost. Trying again…")
        expect(page.locator("#announcer")).to_have_text("The connection was lost. Trying again…")
        while len(in_vain) < 2:
            page.wait_for_timeout(100)
        expect(lost).to_be_visible()
        expect(page.locator(".notice")).to_have_count(0)
        look(page, "lost")
    fake_provider.go_on()
    assert shown(page) == stored(arena, page) == [HALTING, HALTING]
    expect(lost).to_have_count(0)


def test_refused_stream_is_announced_and_resumed_later(arena: Arena, fake_provider: FakeProvider, page: Page):
    start(arena, page)
    battle, address = page.url, page.locator("[sse-connect]").get_attribute("sse-connect")
    page.goto("about:blank")
    with ExitStack() as tabs, httpx2.Client(base_url=arena.url, timeout=60) as client:
        for _ in range(8):
            wait_for(lambda: tabs.enter_context(client.stream("GET", str(address))).status_code == 200)
        requests: list[str] = []
        page.on("request", lambda request: requests.append(request.url) if "/stream/" in request.url else None)
        page.goto(battle)
        expect(page.locator(".not-live")).to_be_visible()
        expect(page.locator("#announcer")).to_have_text(re.compile("Too many live answers are open at once"))
        expect(page.locator(".disconnected")).to_be_hidden()
        with page.expect_response(lambda response: "/battles/" in response.url):  # the page fetches the battle
            pass
        expect(page.locator(".not-live")).to_be_visible()
        expect(page.locator(".notice")).to_have_count(0)
        assert len(requests) <= 5
        look(page, "refused")
    expect(page.locator(".pane .answer").first).to_contain_text("word20")
    expect(page.locator(".not-live")).to_be_hidden()
    fake_provider.go_on()
    assert shown(page) == stored(arena, page) == [HALTING, HALTING]


def test_second_tab_shows_same_answers(arena: Arena, fake_provider: FakeProvider, page: Page):
    start(arena, page)
    second = page.context.new_page()
    second.goto(page.url)
    fake_provider.go_on()
    assert shown(second) == shown(page) == stored(arena, page) == [HALTING, HALTING]


def test_prompt_stays_in_form_while_database_is_away(arena: Arena, page: Page):
    page.goto(arena.url)
    box = page.get_by_role("textbox")
    box.fill(LONG)
    with arena.gone(POSTGRES):
        page.keyboard.press("Enter")
        expect(page.locator(".prompt-box [role=alert]")).to_contain_text("Please try again")
        expect(box).to_have_value(LONG)
    wait_for(arena.is_ready, within=120)
    box.press("Enter")
    page.wait_for_url("**/s/**")
    assert shown(page) == [LONG, LONG]
