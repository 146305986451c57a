"""What people do with what they said: find it, rename it, throw it away and have it back, and publish it."""

import re
import sys
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.arenas import ONLY_ECHOES_ARE_DRAWN, ask
from tests.browser.axe import violations
from tests.browser.pictures import look
from tests.fake_provider import FakeProvider
from tests.faults.running import Arena, arena_with

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]

# Of whoever asked last: sixty sessions over half a year.
MANY = """
from datetime import timedelta
from django.utils import timezone
from accounts.models import Visitor
from battles.models import Session
who, now = Visitor.objects.latest("pk"), timezone.now()
Session.objects.bulk_create(
    Session(owner_visitor=who, title=f"Session {number}", last_active_at=now - timedelta(days=1 + 3 * number))
    for number in range(60)
)
"""


@pytest.fixture(scope="module")
def arena() -> Iterator[Arena]:
    provider = FakeProvider().start()
    with arena_with(provider) as arena:
        command(arena, ONLY_ECHOES_ARE_DRAWN)
        yield arena
    provider.stop()


def command(arena: Arena, words: str) -> None:
    done = arena.run(sys.executable, "manage.py", "shell", "-c", words)
    assert done.returncode == 0, done.stderr


def with_many_sessions(page: Page, arena: Arena) -> None:
    ask(page, arena, "one two three")
    page.get_by_role("button", name="Tie").click()
    page.locator(".reveal").wait_for()
    command(arena, MANY)
    page.reload()


def test_the_sidebar_finds_renames_deletes_and_brings_back(arena: Arena, page: Page):
    with_many_sessions(page, arena)
    sidebar = page.locator("#sessions")
    lines = sidebar.locator(".session-row")
    expect(sidebar.get_by_role("heading").first).to_have_text("Today")
    expect(lines.first).to_contain_text("Left one · Right one")
    look(page, "sidebar-light")
    lines.last.scroll_into_view_if_needed()
    expect(lines).to_have_count(61)  # the rest has come by itself

    line = sidebar.locator(".session-row", has_text="Session 7")
    line.get_by_role("button").click()
    title = sidebar.get_by_role("textbox", name="Title")
    expect(title).to_be_focused()
    look(page, "sidebar-editing-light")
    assert violations(page) == []
    title.fill("A better name")
    page.keyboard.press("Enter")
    expect(sidebar.get_by_role("link", name="A better name")).to_be_visible()
    expect(sidebar.get_by_role("button", name="Rename, archive or delete: A better name")).to_be_focused()

    page.keyboard.press("Enter")
    expect(title).to_be_focused()
    page.keyboard.press("Escape")
    expect(sidebar.get_by_role("button", name="Rename, archive or delete: A better name")).to_be_focused()
    page.keyboard.press("Enter")
    sidebar.get_by_role("button", name="Delete", exact=True).click()
    expect(sidebar.get_by_role("link", name="A better name")).to_have_count(0)
    undo = page.get_by_role("button", name="Undo")
    expect(undo).to_be_focused()
    look(page, "sidebar-undo-light")
    undo.click()
    expect(sidebar.get_by_role("link", name="A better name")).to_be_visible()
    expect(page.locator("#notices")).to_contain_text("back in your list")

    sidebar.get_by_role("searchbox").press_sequentially("better")
    expect(lines).to_have_count(1)
    sidebar.get_by_role("searchbox").fill("")
    expect(lines).to_have_count(40)
    assert violations(page) == []


def test_each_of_two_votes_has_a_name_and_the_sidebar_learns_the_models_with_the_reveal(arena: Arena, page: Page):
    ask(page, arena, "seven eight nine")
    page.locator("#prompt").fill("ten eleven")
    page.get_by_role("button", name="New battle").click()
    votes = page.locator(".vote")
    expect(votes).to_have_count(2, timeout=60_000)
    expect(page.get_by_role("form", name="Vote on “seven eight nine”")).to_have_count(1)
    assert violations(page) == []
    open_one = page.locator("#sessions .session-row", has_text="seven eight nine")
    expect(open_one).to_have_text("seven eight ninenames hidden")
    page.get_by_role("form", name="Vote on “ten eleven”").get_by_role("button", name="Tie").click()
    expect(open_one).to_contain_text("Left one · Right one · names hidden")
    expect(page.locator(".reveal")).to_be_focused()
    votes.get_by_role("button", name="Tie").click()
    expect(open_one).to_contain_text("Left one · Right one")
    expect(open_one).not_to_contain_text("names hidden")
    page.set_viewport_size({"width": 360, "height": 740})
    assert violations(page) == []


def test_deleting_the_open_session_leads_on_and_can_be_undone(arena: Arena, page: Page):
    ask(page, arena, "four five six")
    page.get_by_text("This session").click()
    page.get_by_role("link", name="Delete").click()
    page.wait_for_url(arena.url + "/")
    page.get_by_role("button", name="Undo").click()
    page.locator("#sessions").get_by_role("link", name="four five six").click()
    expect(page.get_by_role("button", name="Left is better")).to_be_visible()


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_on_a_phone_the_sidebar_is_a_drawer_that_keeps_the_focus(arena: Arena, page: Page, colours: str):
    page.emulate_media(color_scheme=colours, reduced_motion="reduce")
    page.set_viewport_size({"width": 360, "height": 740})
    with_many_sessions(page, arena)
    opener = page.get_by_role("button", name="Your sessions")
    opener.click()
    drawer = page.get_by_role("dialog", name="Your sessions")
    expect(drawer.get_by_role("link", name="New battle")).to_be_focused()
    look(page, f"drawer-{colours}")
    assert violations(page) == []
    for _ in range(6):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.closest('#sessions') !== null")
    page.keyboard.press("Escape")
    expect(drawer).to_have_count(0)
    expect(opener).to_be_focused()
    page.goto(f"{arena.url}/sessions/")
    look(page, f"sessions-phone-{colours}")
    assert violations(page) == []


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_a_battle_is_published_read_by_another_and_withdrawn(arena: Arena, page: Page, colours: str):
    page.emulate_media(color_scheme=colours, reduced_motion="reduce")
    ask(page, arena, "# Hello\n\n```python\nx = 1\n```")
    expect(page.get_by_text("Share this battle")).to_have_count(0)
    page.get_by_role("button", name="Left is better").click()
    page.get_by_text("Share this battle").click()
    look(page, f"sharing-before-{colours}")
    page.get_by_role("button", name="Publish", exact=True).click()
    address = page.get_by_role("textbox", name="The page’s address")
    expect(address).to_be_focused()
    look(page, f"sharing-{colours}")
    assert violations(page) == []

    stranger = page.context.browser.new_context(
        viewport={"width": 1280, "height": 900}, color_scheme=colours
    ).new_page()
    stranger.goto(address.input_value())
    expect(stranger.locator(".shared-verdict")).to_have_text(re.compile(r"(Left|Right) one was found better than"))
    expect(stranger.locator(".pane")).to_have_count(2)
    expect(stranger.locator("main form")).to_have_count(1)  # of a report
    look(stranger, f"shared-{colours}")
    assert violations(stranger) == []
    stranger.set_viewport_size({"width": 320, "height": 640})
    assert stranger.evaluate("document.documentElement.scrollWidth") <= 320
    look(stranger, f"shared-phone-{colours}")

    page.get_by_role("button", name="Withdraw").click()
    expect(page.get_by_text("Share this battle")).to_be_focused()
    assert stranger.reload().status == 404
    stranger.context.close()
