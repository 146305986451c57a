"""Accessibility: keys alone, screen readers, right-to-left, reduced motion, no scripts."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.helpers.arenas import ask
from tests.browser.helpers.browser_inputs import Hand, new_context
from tests.fake_provider import PAUSE, FakeProvider
from tests.worlds.arena import Arena

pytestmark = pytest.mark.browser


def test_arabic_answer_is_rtl_and_reduced_motion_is_respected(arena: Arena, page: Page):
    ask(page, arena, "لماذا السماء زرقاء؟")
    written = page.locator(".answer > [id$='-done']").first
    assert written.evaluate("element => getComputedStyle(element).direction") == "rtl"
    assert page.locator(".pane-tabs").evaluate("element => getComputedStyle(element).direction") == "ltr"
    page.get_by_role("button", name="Tie").click()
    lasts = "element => parseFloat(getComputedStyle(element).animationDuration)"
    assert page.locator(".card").first.evaluate(lasts) < 0.001
    page.emulate_media(reduced_motion="no-preference")
    assert page.locator(".card").first.evaluate(lasts) > 0.1


def test_battle_works_by_keyboard_alone(arena: Arena, fake_provider: FakeProvider, page: Page):
    page.goto(f"{arena.url}/leaderboard/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()
    page.goto(arena.url)
    expect(page.locator("#prompt")).to_be_focused()
    page.keyboard.type(f"one two {PAUSE} three")
    page.keyboard.press("Enter")
    page.wait_for_url("**/s/**")
    fake_provider.go_on()
    expect(page.locator("#announcer")).not_to_be_empty()  # announced once: the answers are complete
    first = page.locator(".vote button").first
    expect(first).to_be_visible()
    first.focus()
    order = []
    for _ in range(4):
        order.append(page.evaluate("document.activeElement.value"))
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
        page.keyboard.press("Tab")
    assert order == ["left", "tie", "both_bad", "right"]
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".reveal")).to_be_focused()
    expect(page.locator(".verdict-text")).to_contain_text("You preferred answer B.")


def test_enter_during_answer_keeps_prompt_and_says_so(arena: Arena, fake_provider: FakeProvider, page: Page):
    page.goto(arena.url)
    page.locator("#prompt").fill(f"one two {PAUSE} three")
    page.keyboard.press("Enter")
    page.wait_for_url("**/s/**")
    page.locator("#prompt").fill("and then?")
    page.keyboard.press("Enter")
    alert = page.locator(".composer [role=alert]")
    expect(alert).to_contain_text("The answers are not complete yet.")
    expect(page.locator("#prompt")).to_have_value("and then?")
    expect(page.locator(".answer", has_text="one two")).to_have_count(2)
    page.get_by_role("button", name="Stop").click()
    expect(alert).to_be_empty()
    page.locator("#prompt").press("Enter")
    expect(page.locator(".question").last).to_have_text("and then?")


def test_actions_announce_results_and_move_focus(arena: Arena, fake_provider: FakeProvider, page: Page):
    hand, announcer = Hand(page, by_keys=True), page.locator("#announcer")
    page.goto(arena.url)
    hand.write(page.locator("#prompt"), f"one two {PAUSE} three")
    page.keyboard.press("Enter")
    page.wait_for_url("**/s/**")
    expect(page.locator(".answer", has_text="one two")).to_have_count(2)
    hand.press(page.get_by_role("button", name="Stop"))
    expect(announcer).to_have_text("Stopped. You can vote on the partial answers.")
    expect(page.locator(".vote")).to_be_focused()
    hand.press(page.get_by_role("button", name="Tie"))
    expect(page.locator(".reveal")).to_be_focused()
    left, right = page.locator(".reveal .card h3 bdi").all_inner_texts()
    expect(announcer).to_have_text(f"Your vote is stored. A: {left}. B: {right}.")
    hand.write(page.locator("#prompt"), "one two three")
    hand.press(page.get_by_role("button", name="Follow up with both"))
    expect(announcer).to_have_text("Both answers are complete.")
    expect(page.locator(".question").last).to_be_focused()
    hand.press(page.locator("summary", has_text="Report"))
    hand.write(page.get_by_label("What is wrong with this battle?"), "It is rude.")
    hand.press(page.get_by_role("button", name="Send the report"))
    expect(page.get_by_text("Thank you. A moderator will review it.")).to_be_focused()


def test_no_javascript_hides_prompt_box_while_answering(arena: Arena, fake_provider: FakeProvider, browser: Browser):
    context = new_context(browser, java_script_enabled=False)
    page = context.new_page()
    ask(page, arena, "one two three")
    page.get_by_role("button", name="Tie").click()
    expect(page.get_by_role("link", name="Next battle")).to_be_visible()
    page.locator("#prompt").fill(f"one two {PAUSE} three")
    page.get_by_role("button", name="Follow up with both").click()
    expect(page.get_by_text("You can type your next prompt then")).to_be_visible()
    for boxes in (page.locator("main").get_by_role("textbox"), page.locator("main textarea:visible")):
        expect(boxes).to_have_count(0)
    fake_provider.go_on()
    expect(page.locator("#prompt")).to_be_visible()
    expect(page.get_by_text("You can type your next prompt then")).to_have_count(0)
    context.close()


def test_no_javascript_two_battles_are_voted(arena: Arena, browser: Browser):
    context = new_context(browser, java_script_enabled=False)
    page = context.new_page()
    ask(page, arena, "one two three")
    page.locator("#prompt").fill("four five six")
    page.get_by_role("button", name="Follow up with both").click()
    expect(page.locator(".answer", has_text="four five six")).to_have_count(2)  # the page reloads by itself
    page.get_by_role("button", name="A is better").click()
    expect(page.locator(".verdict-text")).to_contain_text("You preferred answer A.")
    page.locator("summary", has_text="Say why").click()
    page.locator(".tag", has_text="clear").first.click()
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#notices")).to_have_text("Feedback saved. Thank you.")
    expect(page.get_by_role("button", name="Dismiss")).to_have_count(0)
    page.get_by_role("link", name="Next battle").click()
    page.locator("#prompt").fill("seven eight nine")
    page.get_by_role("button", name="New battle").click()
    page.get_by_role("button", name="Tie").click()
    expect(page.locator(".reveal")).to_have_count(2)
    page.get_by_role("button", name="Français").click()
    expect(page.locator(".verdict-text").last).to_contain_text("Vous les avez trouvées à égalité.")
    context.close()
