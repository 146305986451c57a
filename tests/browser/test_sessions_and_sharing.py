"""Sessions in the browser: search, rename, discard, undo, publish, share with a team."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.helpers.arenas import ask
from tests.browser.helpers.axe import violations, violations_in_the_dark
from tests.browser.helpers.browser_inputs import Hand, fresh, new_context, with_zoomed_keys
from tests.browser.helpers.pictures import look
from tests.fake_provider import PAUSE, FakeProvider
from tests.worlds.arena import Arena

pytestmark = pytest.mark.browser

# Sixty sessions of the newest visitor, over half a year.
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


PASSWORD = "a-good-password-1"
# Teams of an owner, and a link into the first with two uses. KEY is replaced.
PEOPLE = """
from datetime import timedelta
from django.utils import timezone
from accounts.models import Role, User
from accounts.teams.actions import create_team, invite
owner = User.objects.create_user("owner-KEY@example.org", "a-good-password-1")
team = create_team(by=owner, owner=owner, name="Physics KEY", slug="physics-KEY", colour="teal")
create_team(by=owner, owner=owner, name="History KEY", slug="history-KEY", colour="red")
soon = timezone.now() + timedelta(days=1)
print(invite(by=owner, team=team, role=Role.MEMBER, uses=2, expires_at=soon)[1])
"""
# Joins the first of them.
MEMBER = """
from accounts.models import TeamMember
member = User.objects.create_user("member-KEY@example.org", "a-good-password-1")
TeamMember.objects.create(team=team, user=member, role=Role.MEMBER)
"""


def with_many_sessions(hand: Hand, arena: Arena) -> None:
    hand.page.goto(arena.url)
    hand.write(hand.page.locator("#prompt"), "one two three")
    hand.press(hand.page.get_by_role("button", name="Start the battle"))
    hand.press(hand.page.get_by_role("button", name="Tie"))
    hand.page.locator(".reveal").wait_for()
    arena.shell(MANY)
    hand.page.reload()


def open_drawer(hand: Hand) -> None:
    """Open the drawer of sessions on phones; wide screens show them anyway."""
    opener = hand.page.get_by_role("button", name="Your sessions")
    if opener.is_visible():
        hand.press(opener)
        expect(hand.page.get_by_role("dialog", name="Your sessions")).to_be_visible()


def look_and_check(hand: Hand, name: str) -> None:
    """Save a screenshot and run axe: in the light on a desktop, and the colours of the dark on a phone.

    With keys the page looks the same, so axe is skipped.
    """
    look(hand.page, f"{name}-{hand.name}")
    if not hand.by_keys:
        hand.page.evaluate("scrollTo(0, 0)")  # axe takes a link that the header half covers for too small
        dark = violations_in_the_dark(hand.page) if hand.name == "finger" else []
        assert violations(hand.page) + dark == []


@with_zoomed_keys
def test_sidebar_searches_renames_archives_deletes_and_restores(arena: Arena, hand: Hand):
    page = hand.page
    with_many_sessions(hand, arena)
    open_drawer(hand)
    sidebar = page.locator("#sessions")
    lines = sidebar.locator(".session-row")
    expect(sidebar.get_by_role("heading").first).to_have_text("Today")
    expect(lines.first).to_contain_text("Left one · Right one")
    look(page, f"sidebar-{hand.name}")

    hand.press(lines.get_by_role("button", name="Rename, archive or delete: Session 7", exact=True))
    title = sidebar.get_by_role("textbox", name="Title")
    expect(title).to_be_focused()
    look_and_check(hand, "sidebar-editing")
    hand.write(title, "A better name")
    page.keyboard.press("Enter")
    more = sidebar.get_by_role("button", name="Rename, archive or delete: A better name")
    expect(more).to_be_focused()
    hand.press(more)
    expect(title).to_be_focused()
    page.keyboard.press("Escape")
    expect(more).to_be_focused()

    with page.expect_response("**/sessions/?search=better"):  # not the response to the first letters
        hand.write(sidebar.get_by_role("searchbox"), "better")
    expect(lines).to_have_count(1)
    expect(page.locator("#announcer")).to_have_text("The list shows what matches.")

    undo = page.get_by_role("button", name="Undo")
    for name, notice in (("Archive", "The session is archived."), ("Delete", "The session is deleted.")):
        hand.press(more)
        hand.press(sidebar.get_by_role("button", name=name, exact=True))
        expect(lines).to_have_count(0)
        expect(page.locator("#notices")).to_contain_text(notice)
        expect(undo).to_be_focused()
        expect(sidebar.locator(".none-left")).to_have_text("Nothing matches.")
        expect(sidebar.locator(".none-left")).to_be_visible()
        expect(page.locator("#announcer")).to_have_text("Nothing matches.")
        if name == "Delete":  # both notices look the same
            look_and_check(hand, "sidebar-undo")
        hand.press(undo)
        expect(lines).to_have_count(1)
        expect(sidebar.locator(".none-left")).to_be_hidden()
        expect(page.locator("#notices")).to_contain_text("back in your list")
    dismiss = page.get_by_role("button", name="Dismiss")
    expect(dismiss).to_be_focused()
    hand.press(dismiss)
    expect(page.locator("#main:focus, [role=dialog] :focus")).to_have_count(1)

    hand.write(sidebar.get_by_role("searchbox"), "")
    expect(lines).to_have_count(40)
    lines.last.scroll_into_view_if_needed()
    expect(lines).to_have_count(61)  # the rest is loaded by itself


def test_emptied_search_says_so_and_undo_restores_match(arena: Arena, page: Page):
    with_many_sessions(Hand(page), arena)
    page.goto(f"{arena.url}/sessions/")
    lines = page.locator("main .session-row")
    page.locator("main").get_by_role("searchbox").fill("Session 17")
    expect(lines).to_have_count(1)
    page.get_by_role("button", name="Rename, archive or delete: Session 17").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.locator("main").get_by_text("Nothing matches.")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(lines).to_have_text(["Session 17"])


def test_two_votes_are_named_and_sidebar_shows_revealed_models(arena: Arena, page: Page):
    ask(page, arena, "seven eight nine")
    page.locator("#prompt").fill("ten eleven")
    page.get_by_role("button", name="New battle").click()
    votes = page.locator(".vote")
    expect(votes).to_have_count(2)
    expect(page.get_by_role("form", name="Vote on “seven eight nine”")).to_have_count(1)
    assert violations(page) == []
    open_one = page.locator("#sessions .session-row", has_text="seven eight nine")
    expect(open_one).to_have_text(re.compile(r"^\s*seven eight nine\s+names hidden\s*$"))
    page.get_by_role("form", name="Vote on “ten eleven”").get_by_role("button", name="Tie").click()
    expect(open_one).to_contain_text("Left one · Right one · names hidden")
    expect(page.locator(".reveal")).to_be_focused()
    votes.get_by_role("button", name="Tie").click()
    expect(open_one).to_contain_text("Left one · Right one")
    expect(open_one).not_to_contain_text("names hidden")
    page.set_viewport_size({"width": 360, "height": 740})
    assert violations(page) == []


def test_renamed_open_session_shows_new_title(arena: Arena, page: Page):
    ask(page, arena, "four five six")
    row = page.locator("#sessions .session-row").first
    row.hover()
    row.get_by_role("button").click()
    page.locator("#sessions").get_by_role("textbox", name="Title").fill("Numbers")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Numbers", level=1)).to_be_visible()
    expect(page).to_have_title("Numbers · Arena")


def test_deleted_open_session_leads_home_and_can_be_restored(arena: Arena, page: Page):
    ask(page, arena, "four five six")
    page.get_by_text("This session").click()
    page.get_by_role("link", name="Delete").click()
    page.wait_for_url(arena.url + "/")
    page.get_by_role("button", name="Undo").click()
    page.locator("#sessions").get_by_role("link", name="four five six").click()
    expect(page.get_by_role("button", name="A is better")).to_be_visible()


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_phone_sidebar_is_drawer_that_keeps_focus(arena: Arena, page: Page, colours: str):
    page.emulate_media(color_scheme=colours, reduced_motion="reduce")
    page.set_viewport_size({"width": 360, "height": 740})
    with_many_sessions(Hand(page), arena)
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


def test_battle_is_published_read_and_withdrawn(arena: Arena, browser: Browser, hand: Hand):
    page = hand.page
    page.goto(arena.url)
    hand.write(page.locator("#prompt"), "# Hello")
    hand.press(page.get_by_role("button", name="Start the battle"))
    page.get_by_role("button", name="A is better").wait_for()
    expect(page.get_by_text("Share this battle")).to_have_count(0)
    hand.press(page.get_by_role("button", name="A is better"))
    hand.press(page.locator("summary", has_text="Share this battle"))
    look_and_check(hand, "sharing-before")
    hand.press(page.get_by_role("button", name="Publish", exact=True))
    address = page.get_by_role("textbox", name="The page’s address")
    expect(address).to_be_focused()
    look_and_check(hand, "sharing")

    stranger = fresh(browser, hand.name)
    reader = stranger.page
    reader.goto(address.input_value())
    expect(reader.locator(".shared-verdict")).to_have_text(re.compile(r"(Left|Right) one was found better than"))
    expect(reader.locator("main form")).to_have_count(1)  # the report's form
    look_and_check(stranger, "shared")
    other_answer = reader.locator(".pane-tabs").get_by_role("link").last
    if other_answer.is_visible():
        stranger.press(other_answer)
    expect(reader.get_by_role("group", name="Answer B").get_by_role("heading", name="Hello")).to_be_in_viewport()
    with reader.expect_download() as export:
        stranger.press(reader.get_by_role("link", name="Export Markdown"))
    assert "# Hello" in export.value.path().read_text()
    reader.set_viewport_size({"width": 320, "height": 640})
    assert reader.evaluate("document.documentElement.scrollWidth") <= 320

    hand.press(page.get_by_role("button", name="Unpublish"))
    expect(page.locator("summary", has_text="Share this battle")).to_be_focused()
    assert reader.reload().status == 404
    reader.context.close()


def sign_in_as(page: Page, arena: Arena, email: str) -> None:
    page.goto(f"{arena.url}/accounts/login/")
    page.locator("#id_login").fill(email)
    page.locator("#id_password").fill(PASSWORD)
    page.get_by_role("button", name="Sign In", exact=True).click()
    page.wait_for_url(lambda url: "/login/" not in url)


def test_class_is_invited_and_reads_a_shared_session(arena: Arena, hand: Hand, browser: Browser):
    key, page = hand.name.replace("-", ""), hand.page
    token = arena.shell(PEOPLE.replace("KEY", key)).strip().splitlines()[-1]
    student = new_context(browser).new_page()

    sign_in_as(page, arena, f"owner-{key}@example.org")
    hand.press(page.locator(".place-switch"))
    expect(page.get_by_role("button", name="Personal", exact=True)).to_be_visible()
    if not hand.by_keys:
        assert violations(page) == []
    look(page, f"places-{hand.name}")
    hand.press(page.locator("#places").get_by_role("button", name=f"Physics {key}"))
    expect(page.locator(".begins-in")).to_contain_text(f"Physics {key}")
    ask(page, arena, "one two three")
    hand.press(page.get_by_role("button", name="Tie"))
    page.locator(".reveal").wait_for()
    hand.press(page.get_by_role("button", name="Share with the team"))
    expect(page.get_by_role("button", name="Stop sharing")).to_be_visible()

    student.goto(f"{arena.url}/teams/join/?invitation={token}")
    student.get_by_role("link", name="Create an account").click()
    student.locator("#id_email").fill(f"student-{key}@example.org")
    student.locator("#id_password1").fill(PASSWORD)
    student.get_by_role("button", name="Sign Up").click()
    expect(student.get_by_role("heading", level=1)).to_have_text(f"Physics {key}")
    student.get_by_role("link", name="one two three").click()
    expect(student.locator(".shared-verdict")).to_contain_text("equally good")
    assert violations(student) == []

    page.goto(f"{arena.url}/teams/physics-{key}/members/")
    row = page.locator("li", has_text=f"student-{key}@example.org")
    hand.press(row.locator("summary"))
    hand.press(row.get_by_role("button", name="Remove from the team"))
    expect(row).to_have_count(0)
    student.reload()
    expect(student.locator(".status")).to_have_text("404")
    student.context.close()


@pytest.mark.parametrize("end", ["demoted", "removed"])
def test_open_answer_ends_with_the_membership(
    arena: Arena, fake_provider: FakeProvider, browser: Browser, page: Page, end: str
):
    """The second browser is the owner's."""
    key = f"stream-{end}"
    arena.shell(f"{PEOPLE}\n{MEMBER}".replace("KEY", key))
    owner = new_context(browser).new_page()
    sign_in_as(owner, arena, f"owner-{key}@example.org")
    owner.goto(f"{arena.url}/teams/physics-{key}/members/")
    row = owner.locator("li", has_text=f"member-{key}@example.org")
    sign_in_as(page, arena, f"member-{key}@example.org")
    page.goto(f"{arena.url}/?team=physics-{key}")
    page.locator("#prompt").fill(f"one {PAUSE} two")
    page.get_by_role("button", name="Start the battle").click()
    expect(page.locator(".answer").first).to_contain_text("one")

    if end == "demoted":
        row.locator("select").select_option("guest")
        row.get_by_role("button", name="Save").click()
        expect(owner.get_by_text("is changed.")).to_be_visible()
    else:
        row.locator("summary").click()
        row.get_by_role("button", name="Remove from the team").click()
        expect(row).to_have_count(0)
    # The page looks again when the stream ends, within 5 s on a calm machine.
    expect(page.get_by_text("You are no longer in the team of this session.")).to_be_visible()
    assert page.locator("[sse-connect], #prompt").count() == 0
    look(page, f"left-{end}")
    page.goto(f"{arena.url}/teams/physics-{key}/")
    expect(page.locator(".status")).to_have_text("403" if end == "demoted" else "404")
    owner.context.close()
