from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.helpers.pictures import look
from tests.fake_provider import FakeProvider
from tests.site import Reader
from tests.worlds.arena import Arena, arena_with

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def arena(_fake_provider: FakeProvider) -> Iterator[Arena]:
    with arena_with(_fake_provider, ARENA_PROOF_OF_WORK_FROM="1") as arena:
        assert Reader(arena.url).api("POST", "sessions/", {"prompt": "the one that is free"}).status_code == 201
        yield arena


def begin(page: Page, arena: Arena, text: str) -> None:
    page.goto(arena.url)
    page.locator("#prompt").fill(text)
    page.get_by_role("button", name="Start the battle").click()


def begun(page: Page, text: str) -> None:
    page.wait_for_url("**/s/**")
    expect(page.get_by_text(text).first).to_be_visible()


def test_solved_proof_of_work_starts_battle(arena: Arena, page: Page):
    held: list[Route] = []  # a lucky browser finishes before the test sees its work
    page.route("**/proof_worker*", lambda route: held.append(route))
    begin(page, arena, "proved")
    expect(page.get_by_text("One moment, checking that you are human")).to_be_visible()
    look(page, "proof-of-work")
    while not held:
        page.wait_for_timeout(50)
    held.pop().continue_()
    begun(page, "proved")
    page.unroute("**/proof_worker*")
    page.get_by_role("button", name="A is better").click()
    page.locator("#prompt").fill("in the same session")
    page.get_by_role("button", name="New battle").click()
    expect(page.get_by_text("in the same session").first).to_be_visible()
    expect(page.locator(".battle")).to_have_count(2)


def test_unsolvable_proof_of_work_says_what_to_do(arena: Arena, page: Page):
    page.add_init_script("Object.defineProperty(crypto, 'subtle', { value: undefined })")
    begin(page, arena, "what I typed")
    expect(page.locator(".prompt-box [role=alert]")).to_contain_text("or sign in")
    expect(page.locator("#prompt")).to_have_value("what I typed")
    look(page, "proof-of-work-refused")
