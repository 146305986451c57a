"""The main path from `make up` to the board, with the real local model."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.helpers.arenas import publish
from tests.uploads import pdfs, pictures
from tests.worlds.arena import Arena

pytestmark = pytest.mark.browser


def test_first_battle_from_prompt_to_board_by_keyboard(arena: Arena, page: Page):
    page.goto(arena.url)
    page.get_by_role("textbox").fill("Write about eighty words on why the sea is salty.")
    page.keyboard.press("Enter")
    page.wait_for_url("**/s/**")
    panes = page.locator(".pane .answer")
    expect(panes).to_have_count(2)

    page.get_by_role("button", name="A is better").wait_for()
    assert all(answer.strip() for answer in panes.all_inner_texts())
    assert "SmolLM2" not in page.content()

    page.wait_for_timeout(800)  # the page takes an arrow key pressed as the bar appears for scrolling
    page.locator("body").press("ArrowLeft")
    revealed = page.locator(".reveal .card h3 bdi")
    expect(revealed).to_have_count(2)
    names = revealed.all_inner_texts()
    assert all(name.startswith("SmolLM2 135M") for name in names)
    assert names[0] != names[1]

    publish(arena)
    page.goto(f"{arena.url}/leaderboard/")
    for name in names:
        expect(page.locator("#board bdi").get_by_text(name, exact=True)).to_have_count(1)


def test_reload_during_answer_loses_nothing(arena: Arena, page: Page):
    page.goto(arena.url)
    page.get_by_role("textbox").fill("Write about eighty words on why the sea is salty.")
    page.keyboard.press("Enter")
    page.wait_for_url("**/s/**")
    expect(page.locator(".pane .answer").first).not_to_be_empty()
    page.reload()
    expect(page.get_by_role("button", name="A is better")).to_be_visible()
    shown = page.locator(".pane .answer").all_inner_texts()
    page.reload()
    assert page.locator(".pane .answer").all_inner_texts() == shown


def test_local_models_read_files_but_no_pictures(arena: Arena, page: Page):
    page.goto(arena.url)
    letter = {
        "name": "letter.pdf",
        "mimeType": "application/pdf",
        "buffer": pdfs.with_text("The ferry leaves at noon."),
    }
    note = {"name": "note.txt", "mimeType": "text/plain", "buffer": b"Bring a red umbrella."}
    page.set_input_files("[data-attach]", [letter, note])
    expect(page.locator('.chip[data-state="ready"]')).to_have_count(2)
    page.locator("#prompt").fill("Say in one sentence what the files say.")
    page.keyboard.press("Enter")
    page.wait_for_url("**/s/**")
    page.get_by_role("button", name="Tie").click()
    expect(page.locator(".reveal .card")).to_have_count(2)
    assert all(answer.strip() for answer in page.locator(".pane .answer").all_inner_texts())
    page.goto(f"{arena.url}{page.locator('.attached .chip-name', has_text='letter.pdf').get_attribute('href')}")
    expect(page.get_by_text("The ferry leaves at noon.")).to_be_visible()

    page.goto(arena.url)
    photo = {"name": "photo.png", "mimeType": "image/png", "buffer": pictures.picture()}
    page.set_input_files("[data-attach]", [photo])
    expect(page.locator('.chip[data-state="ready"]')).to_have_count(1)
    page.locator("#prompt").fill("What is on it?")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Too few available models accept images").first).to_be_visible()
    expect(page.locator("#prompt")).to_have_value("What is on it?")


def test_first_battle_fits_phone(arena: Arena, page: Page):
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(arena.url)
    page.get_by_role("textbox").fill("Say hello in three languages.")
    page.get_by_role("button", name="Start the battle").click()
    page.wait_for_url("**/s/**")
    tie = page.get_by_role("button", name="Tie")
    expect(tie).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    tie.click()
    expect(page.locator(".reveal").get_by_text("SmolLM2 135M").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
