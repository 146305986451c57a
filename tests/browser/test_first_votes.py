"""A visitor's first minutes: prompt, mode, vote, explanation and next battle."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.helpers.arenas import ask
from tests.browser.helpers.members import make_member, sign_in
from tests.browser.helpers.pictures import look
from tests.fake_provider import PAUSE, FakeProvider
from tests.faults.battling import LONG
from tests.worlds.arena import Arena

pytestmark = pytest.mark.browser

# Layout shifts without input, and their scores (web.dev/cls).
WATCH_SHIFTS = """
window.shifts = [];
new PerformanceObserver((list) => {
  for (const { value, hadRecentInput, sources } of list.getEntries())
    if (!hadRecentInput)
      window.shifts.push([value, sources.map(({ node, previousRect, currentRect }) => [
        node?.className ?? node?.nodeName, previousRect.y, previousRect.height, currentRect.y, currentRect.height])]);
}).observe({ type: "layout-shift", buffered: true });
"""
# Timers of the page run ten times as long, so that a busy machine sees short states, too.
LONG_MOMENTS = "window.setTimeout = ((own) => (what, ms, ...more) => own(what, 10 * ms, ...more))(setTimeout)"
NO_TIMERS = "window.setTimeout = () => 0"
SHIFTED = "window.shifts.reduce((sum, [value]) => sum + value, 0)"


def test_failed_vote_keeps_choice_for_retry(arena: Arena, page: Page):
    ask(page, arena, "one two three")
    choice = page.get_by_role("button", name="B is better")
    for spoil, mend in (
        (lambda: page.route("**/vote/", lambda route: route.fulfill(status=500)), lambda: page.unroute("**/vote/")),
        (lambda: page.context.set_offline(True), lambda: page.context.set_offline(False)),
    ):
        spoil()
        choice.click()
        expect(page.locator(".vote [role=alert]")).to_contain_text("Your vote was not saved. Please try again.")
        expect(choice).to_be_focused()
        expect(page.locator("#notices .notice")).to_have_count(0)
        look(page, "vote-failed")
        mend()
    choice.press("Enter")
    expect(page.locator(".reveal .verdict-text")).to_contain_text("preferred answer B")


def test_prompt_and_files_survive_change_of_mode(arena: Arena, page: Page):
    page.goto(arena.url)
    page.locator("#prompt").fill("What is in it?\nIn two lines.")
    page.locator("[data-attach]").set_input_files(
        {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"Not much."}
    )
    expect(page.locator(".chip[data-state=ready]")).to_have_count(1)
    page.get_by_role("link", name="Compare").click()
    page.wait_for_url("**/?mode=compare")
    expect(page.get_by_role("heading", level=1)).to_have_text("One prompt, up to six answers.")
    expect(page.locator("#prompt")).to_have_value("What is in it?\nIn two lines.")
    expect(page.locator("#prompt")).to_be_focused()
    expect(page.locator(".chip input[name=attachments]")).to_have_count(1)
    for pick in page.locator(".model-row input:enabled").all():
        pick.check()
    page.keyboard.press("Tab")
    page.get_by_role("button", name="Compare").click()
    page.wait_for_url("**/s/**")
    expect(page.locator(".question")).to_have_text("What is in it?\nIn two lines.")
    expect(page.get_by_role("link", name="notes.txt")).to_be_visible()


def test_draft_survives_reload_until_sent(arena: Arena, page: Page):
    prompt = page.locator("#prompt")
    page.goto(arena.url)
    prompt.fill("A long thought,\nwell put.")
    page.reload()
    expect(prompt).to_have_value("A long thought,\nwell put.")
    page.get_by_role("button", name="Start the battle").click()
    page.get_by_role("button", name="Tie").wait_for()
    prompt.fill("And another?")
    page.reload()
    expect(prompt).to_have_value("And another?")
    page.get_by_role("button", name="Follow up with both").click()
    expect(page.locator(".question")).to_have_text(["A long thought,\nwell put.", "And another?"])
    page.reload()
    expect(prompt).to_have_value("")
    page.goto(arena.url)
    expect(prompt).to_have_value("")


def test_draft_survives_sign_in_but_not_sign_out(arena: Arena, page: Page):
    email = make_member(arena)
    page.goto(arena.url)
    page.locator("#prompt").fill("Mine.")
    sign_in(page, arena.url, email)
    page.goto(arena.url)
    expect(page.locator("#prompt")).to_have_value("Mine.")
    page.goto(f"{arena.url}/accounts/logout/")
    page.locator("main").get_by_role("button", name="Sign out").click()
    page.wait_for_url(f"{arena.url}/")
    expect(page.locator("#prompt")).to_have_value("")


def test_suggestion_fills_prompt_in_direct_chat(arena: Arena, page: Page):
    page.goto(arena.url)
    page.get_by_role("link", name="Direct chat").click()
    page.get_by_role("button", name="Explain why").click()
    expect(page.locator("#prompt")).to_have_value("Explain why the sky is blue to a curious ten-year-old.")


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("words", [3, 400])
def test_growing_answers_and_vote_bar_shift_nothing(
    arena: Arena,
    page: Page,
    width: int,
    words: int,
):
    page.set_viewport_size({"width": width, "height": 800})
    page.add_init_script(WATCH_SHIFTS)
    ask(page, arena, "word " * words)
    page.wait_for_timeout(500)
    assert page.evaluate(SHIFTED) < 0.02, page.evaluate("window.shifts")


@pytest.mark.parametrize("width", [1280, 360])
def test_stop_button_stays_and_repeated_clicks_do_not_vote(
    arena: Arena, fake_provider: FakeProvider, page: Page, width: int
):
    page.set_viewport_size({"width": width, "height": 800})
    page.add_init_script(LONG_MOMENTS)
    page.goto(arena.url)
    page.locator("#prompt").fill(LONG.replace("word300", f"{PAUSE} word300"))
    page.get_by_role("button", name="Start the battle").click()
    page.wait_for_url("**/s/**")
    answer, stop = page.locator(".answer").first, page.get_by_role("button", name="Stop")
    expect(answer).to_contain_text("word5 ")
    box = stop.bounding_box()
    assert box is not None
    expect(answer).to_contain_text("word250 ")
    assert stop.bounding_box() == box
    at = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    for _ in range(3):
        page.mouse.click(*at)
        page.wait_for_timeout(100)
    page.locator(".vote").wait_for()
    page.mouse.click(*at)
    page.get_by_role("button", name="A is better").dblclick()
    expect(page.locator(".verdict-text")).to_contain_text("You preferred answer A.")
    page.wait_for_timeout(300)
    expect(page.locator(".reveal")).to_be_focused()


def test_vote_bar_needs_no_timer_to_work(arena: Arena, fake_provider: FakeProvider, page: Page):
    """Before its scripts listen, a button would send its form without them and load another page."""
    page.goto(arena.url)
    page.locator("#prompt").fill(f"one {PAUSE} two")
    page.get_by_role("button", name="Start the battle").click()
    page.wait_for_url("**/s/**")
    expect(page.locator(".answer").first).to_contain_text("one")
    page.evaluate(NO_TIMERS)
    fake_provider.go_on()
    page.get_by_role("button", name="Tie").press("Enter")
    expect(page.locator(".verdict-text")).to_contain_text("You called it a tie.")
    expect(page.locator(".reveal")).to_be_focused()


def test_unsent_report_survives_vote(arena: Arena, page: Page):
    ask(page, arena, "one two three")
    page.locator("summary", has_text="Report").click()
    page.get_by_label("What is wrong with this battle?").fill("It is rude.")
    page.get_by_role("button", name="Tie").click()
    expect(page.locator(".verdict-text")).to_contain_text("You called it a tie.")
    expect(page.get_by_label("What is wrong with this battle?")).to_have_value("It is rude.")
    page.get_by_role("button", name="Send the report").click()
    expect(page.get_by_text("A moderator will review it.")).to_be_visible()


def test_unsent_report_survives_follow_up(arena: Arena, page: Page):
    ask(page, arena, "one two three")
    page.locator("summary", has_text="Report").click()
    page.get_by_label("What is wrong with this battle?").fill("It is rude.")
    page.locator("#prompt").fill("four five six")
    page.get_by_role("button", name="Follow up with both").click()
    expect(page.locator(".answer", has_text="four five six")).to_have_count(2)
    page.get_by_role("button", name="A is better").wait_for()
    expect(page.get_by_label("What is wrong with this battle?")).to_have_value("It is rude.")


def test_key_n_starts_next_battle_of_session(arena: Arena, page: Page):
    ask(page, arena, "one two three")
    page.get_by_role("button", name="Tie").click()
    expect(page.locator(".reveal")).to_be_focused()
    page.keyboard.press("n")
    expect(page.locator("#prompt")).to_be_focused()
    expect(page.locator("#prompt")).to_have_value("")
    first = page.url
    page.keyboard.type("four five six")
    page.keyboard.press("Enter")
    expect(page.locator(".battle")).to_have_count(2)
    assert page.url.split("#")[0] == first.split("#")[0]
    page.get_by_role("button", name="Tie").wait_for()


def test_feedback_is_saved_as_chosen_and_can_change(arena: Arena, page: Page):
    ask(page, arena, "one two three")
    page.get_by_role("button", name="A is better").click()
    page.get_by_text("Say why").click()
    page.locator(".tag", has_text="clear").first.click()
    expect(page.locator(".kept-note")).to_contain_text("Feedback saved")
    broken: list[str] = []
    page.on("requestfailed", lambda request: broken.append(request.url))
    page.get_by_label("Comment").fill("Short.")
    with page.expect_response(lambda response: "Short." in (response.request.post_data or "")):
        page.get_by_role("button", name="Save").click()
    page.wait_for_timeout(500)
    assert broken == []
    page.reload()
    expect(page.locator(".tag input:checked")).to_have_count(1)
    expect(page.get_by_label("Comment")).to_have_value("Short.")
    page.locator(".tag input:checked").press("Space")
    expect(page.locator(".kept-note")).to_contain_text("Feedback saved")
    page.reload()
    expect(page.locator(".tag input:checked")).to_have_count(0)
