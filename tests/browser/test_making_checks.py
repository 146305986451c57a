"""A team lead makes a template from a spreadsheet, and its checks in fields."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.helpers.axe import PHONE, WIDE, violations, violations_of_colours
from tests.browser.helpers.members import make_member, sign_in
from tests.browser.helpers.pictures import look
from tests.worlds.arena import Arena

pytestmark = pytest.mark.browser

TABLE = "Frage\tAntwort\nHauptstadt von Frankreich?\tParis\nHauptstadt von Japan?\tTokio\n"


def make_template(page: Page, url: str, *, is_examined: bool = False) -> None:
    """Make a template in two steps, and open its draft. is_examined: find accessibility faults of the second step."""
    page.goto(f"{url}/benchmarks/new/")
    page.get_by_label("Paste from a spreadsheet").fill(TABLE)
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_label("Column with the right answers")).to_have_value("Antwort")
    if is_examined:
        page.set_viewport_size(PHONE)
        assert violations(page) + violations_of_colours(page) == []
        page.set_viewport_size(WIDE)
    page.get_by_role("textbox", name="Name").fill("Hauptstädte")
    page.get_by_role("button", name="Make the template").click()
    expect(page.get_by_role("link", name="Start a run")).to_be_visible()
    page.get_by_role("link", name="Edit the draft").click()


def test_checks_are_made_tried_and_found_again_in_fields(arena: Arena, page: Page):
    sign_in(page, arena.url, make_member(arena))
    make_template(page, arena.url, is_examined=True)
    checks = page.locator("#checks fieldset")
    expect(checks).to_have_count(1)
    page.get_by_text("Add a check").click()
    page.get_by_role("button", name="has so many words").click()
    expect(checks).to_have_count(2)
    expect(checks.nth(1).get_by_label("Right if the answer")).to_be_focused()
    checks.nth(1).get_by_label("At most").fill("9")
    first = checks.nth(0)
    first.get_by_label("Right if the answer").select_option("number")
    expect(first.get_by_label("Of several numbers")).to_be_visible()
    first.get_by_label("Right if the answer").select_option("ends_with")
    expect(first.get_by_label("Punctuation does not count")).to_be_visible()
    expect(first.get_by_label("Mark")).to_be_hidden()
    first.get_by_label("Look at").select_option("after_mark")
    first.get_by_label("Mark").fill("Antwort:")
    expect(checks.nth(1).get_by_label("At most")).to_have_value("9")
    page.get_by_role("textbox", name="Answer", exact=True).fill("Vielleicht.\nAntwort: Paris")
    page.get_by_role("button", name="Try on this text").click()
    expect(page.locator("#trial tbody tr")).to_have_count(2)
    expect(page.locator("#trial tfoot")).to_contain_text("1.00")
    assert violations(page) + violations_of_colours(page) == []
    page.set_viewport_size(PHONE)
    assert violations(page) == []
    page.set_viewport_size(WIDE)
    look(page, "checks-made")
    query = "SELECT c.scorer FROM benchmarks_check c JOIN benchmarks_templateversion v ON v.id = c.version_id"
    query += " JOIN benchmarks_template t ON t.id = v.template_id WHERE t.public_id = %s ORDER BY c.position"
    template = page.url.split("/")[5]
    assert arena.query(query, template) == [("contains_any",)]
    first.get_by_label("Mark").press("Enter")
    expect(page.get_by_text("The draft is saved.")).to_be_visible()
    assert arena.query(query, template) == [("ends_with",), ("words",)]
    expect(first.get_by_label("Look at")).to_have_value("after_mark")
    expect(first.get_by_label("Mark")).to_have_value("Antwort:")
    expect(checks.nth(1).get_by_label("At most")).to_have_value("9")
    page.get_by_role("button", name="Remove check 1").click()
    expect(checks).to_have_count(1)
    expect(page.locator(".check-groups > summary")).to_be_focused()
    checks.nth(0).get_by_text("Advanced").click()
    page.get_by_role("button", name="Write this check as JSON").click()
    expect(checks.nth(0).get_by_label("Settings")).to_have_value('{\n  "max": 9\n}')


def test_checks_are_made_without_script(arena: Arena, browser: Browser):
    context = browser.new_context(java_script_enabled=False, locale="en-US")
    page = context.new_page()
    sign_in(page, arena.url, make_member(arena))
    make_template(page, arena.url)
    page.locator(".check-groups > summary").click()
    page.get_by_role("button", name="is in a language").click()
    page.locator("#checks fieldset").nth(1).get_by_label("Language", exact=True).select_option("de")
    page.locator("#checks fieldset").nth(0).get_by_label("Right if the answer").select_option("levenshtein")
    page.get_by_role("button", name="Show its fields").nth(0).click()
    expect(page.get_by_label("Characters at most")).to_have_value("5")
    page.get_by_role("button", name="Save the draft").last.click()
    expect(page.get_by_text("The draft is saved.")).to_be_visible()
    expect(page.locator("#checks").get_by_label("Language", exact=True)).to_have_value("de")
    context.close()
