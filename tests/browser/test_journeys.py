"""Main journeys, each by mouse on a desktop, by touch on a phone, and by keys."""

import pytest
from playwright.sync_api import Response, expect

from tests.browser.helpers.administration import sign_in
from tests.browser.helpers.axe import violations
from tests.browser.helpers.browser_inputs import Hand, with_zoomed_keys
from tests.browser.helpers.members import new_address
from tests.faults.battling import wait_until_answered
from tests.site import Reader
from tests.worlds.arena import Arena

pytestmark = pytest.mark.browser

PASSWORD = "a-good-password-1"


def begin(hand: Hand, arena: Arena, mode: str = "") -> None:
    hand.page.goto(arena.url)
    if mode:
        hand.press(hand.page.get_by_role("link", name=mode))
        expect(hand.page.get_by_role("link", name=mode)).to_have_attribute("aria-current", "page")


def send(hand: Hand, button: str, prompt: str = "one two three") -> None:
    hand.write(hand.page.locator("#prompt"), prompt)
    hand.press(hand.page.get_by_role("button", name=button))
    hand.page.wait_for_url("**/s/**")


@with_zoomed_keys
def test_battle_from_suggestion_to_report(arena: Arena, hand: Hand):
    page = hand.page
    begin(hand, arena)
    hand.press(page.get_by_role("button", name="Explain why the sky"))
    hand.press(page.get_by_role("button", name="Start the battle"))
    page.wait_for_url("**/s/**")
    expect(page.get_by_role("button", name="Tie")).to_be_visible()
    hand.write(page.locator("#prompt"), "And at night?")
    hand.press(page.get_by_role("button", name="Follow up with both"))
    expect(page.locator(".turn")).to_have_count(2)
    expect(page.get_by_role("group", name="Answer B").last).to_have_text("And at night?")
    hand.press(page.get_by_role("button", name="B is better"))
    expect(page.locator(".verdict-text")).to_contain_text("You preferred answer B.")
    expect(page.locator(".reveal")).to_be_focused()
    hand.press(page.locator("summary", has_text="Say why"))
    hand.tick(page.locator(".tag input").first)
    expect(page.locator(".kept-note")).to_contain_text("Feedback saved")
    hand.press(page.locator("summary", has_text="Report"))
    hand.write(page.get_by_label("What is wrong with this battle?"), "It is rude.")
    hand.press(page.get_by_role("button", name="Send the report"))
    expect(page.get_by_text("A moderator will review it.")).to_be_visible()


def test_compared_models_get_stars(arena: Arena, hand: Hand):
    page = hand.page
    begin(hand, arena, "Compare")
    for name in ("Left one", "Right one"):
        hand.tick(page.get_by_label(name))
    send(hand, "Compare")
    stars, given = page.locator(".stars").first, 4 if hand.by_keys else 1
    stored: list[Response] = []
    page.on("response", lambda response: stored.append(response) if response.url.endswith("/rating/") else None)
    hand.tick(stars.get_by_label("1 star" if hand.by_keys else "4 stars"))
    for _ in range(given - 1):  # without a pause
        page.keyboard.press("ArrowRight")
    while len(stored) < given:
        page.wait_for_timeout(50)
    page.reload()
    expect(stars.get_by_label("4 stars")).to_be_checked()


def test_side_by_side_vote_and_direct_chat(arena: Arena, hand: Hand):
    page = hand.page
    begin(hand, arena, "Side by side")
    hand.pick_model(page.get_by_role("button", name="Model A"), "Left one")
    hand.pick_model(page.get_by_role("button", name="Model B"), "Right one")
    send(hand, "Start the battle")
    hand.press(page.get_by_role("button", name="A is better"))
    expect(page.locator(".verdict-text")).to_contain_text("You preferred answer A.")
    begin(hand, arena, "Direct chat")
    hand.pick_model(page.locator("#picked-one"), "Right one")
    send(hand, "Send", "Hello")
    expect(page.get_by_role("group", name="Answer", exact=True)).to_have_text("Hello")
    hand.write(page.locator("#prompt"), "Again")
    hand.press(page.get_by_role("button", name="Send", exact=True))
    expect(page.get_by_role("group", name="Answer", exact=True).last).to_have_text("Again")


def test_new_member_archives_session_and_signs_in_again(arena: Arena, hand: Hand):
    page, email = hand.page, new_address()
    begin(hand, arena)
    send(hand, "Start the battle", "keep this")
    hand.press(page.get_by_role("link", name="Sign in"))
    hand.press(page.get_by_role("main").get_by_role("link", name="Sign up"))
    hand.write(page.locator("[name=email]"), email)
    hand.write(page.locator("[name=password1]"), PASSWORD)
    hand.press(page.get_by_role("button", name="Sign Up"))
    expect(page.get_by_role("link", name="Account")).to_be_visible()

    page.goto(f"{arena.url}/sessions/")
    row = page.get_by_role("main").locator(".session-row")
    expect(row).to_contain_text("keep this")  # the visitor's session was transferred
    hand.press(row.get_by_role("button", name="Rename, archive or delete"))
    hand.press(row.get_by_role("button", name="Archive", exact=True))
    expect(row).to_have_count(0)
    hand.press(page.get_by_role("main").get_by_role("link", name="Archived sessions"))
    expect(row).to_contain_text("keep this")

    page.goto(f"{arena.url}/accounts/logout/")
    hand.press(page.get_by_role("main").get_by_role("button"))
    hand.press(page.get_by_role("link", name="Sign in").first)
    hand.write(page.locator("[name=login]"), email)
    hand.write(page.locator("[name=password]"), PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Account")).to_be_visible()


def test_moderator_hides_reported_battle(arena: Arena, hand: Hand):
    visitor, insult = Reader(arena.url), f"An insult sent by {hand.name}."
    session = visitor.api("POST", "sessions/", {"prompt": "the reported one"}).json()
    battle = wait_until_answered(visitor, session["battles"][0])
    assert visitor.api("POST", f"battles/{battle['id']}/report/", {"reason": insult}).status_code == 201

    page = hand.page
    sign_in(arena, page)
    hand.press(page.get_by_role("link", name="Moderation queue", exact=True))
    hand.write(page.locator("#searchbar"), insult)
    page.keyboard.press("Enter")
    page.wait_for_url("**q=An*")
    hand.press(page.locator("#result_list tbody").get_by_role("link").first)
    expect(page.get_by_text(insult)).to_be_visible()
    expect(page.get_by_text("the reported one").first).to_be_visible()
    assert hand.name != "mouse" or violations(page) == []
    hand.press(page.get_by_role("button", name="Hide the battles"))
    page.get_by_role("button", name="Go on").wait_for()
    assert hand.name != "mouse" or violations(page) == []
    hand.press(page.get_by_role("button", name="Go on"))  # refused without a reason
    hand.write(page.get_by_label("Why"), "It insults.")
    hand.press(page.get_by_role("button", name="Go on"))
    expect(page.locator(".messagelist")).to_have_text("1 case is decided.")
    assert "A moderator has hidden this battle" in visitor.get(f"/s/{session['id']}/").text
