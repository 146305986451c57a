import base64
import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.helpers.browser_inputs import Hand
from tests.fake_provider import FakeProvider
from tests.uploads import pdfs, pictures
from tests.worlds.arena import Arena

pytestmark = pytest.mark.browser

DISPATCH_WITH_FILE = """([kind, name, content, texts]) => {
  const carried = new DataTransfer();
  for (const type in texts) carried.setData(type, texts[type]);
  carried.items.add(new File([Uint8Array.from(atob(content), (sign) => sign.charCodeAt(0))], name));
  const options = { bubbles: true, cancelable: true };
  const event = kind === "paste" ? new ClipboardEvent("paste", { clipboardData: carried, ...options })
    : new DragEvent(kind, { dataTransfer: carried, ...options });
  document.getElementById("prompt").dispatchEvent(event);
}"""


def dispatch_with_file(page: Page, kind: str, name: str, content: bytes, texts: dict[str, str] | None = None) -> None:
    page.evaluate(DISPATCH_WITH_FILE, [kind, name, base64.b64encode(content).decode(), texts or {}])


def test_chosen_dropped_and_pasted_files_go_with_prompt(arena: Arena, fake_provider: FakeProvider, page: Page):
    page.goto(arena.url)
    report = {"name": "report.pdf", "mimeType": "application/pdf", "buffer": pdfs.with_text("from a PDF")}
    scan = {"name": "scan.pdf", "mimeType": "application/pdf", "buffer": pdfs.scanned()}
    page.set_input_files("[data-attach]", [report, scan])
    dispatch_with_file(page, "dragover", "dropped.txt", b"dropped text")
    expect(page.locator(".composer.dropping")).to_have_count(1)
    dispatch_with_file(page, "drop", "dropped.txt", b"dropped text")
    expect(page.locator(".composer.dropping")).to_have_count(0)
    dispatch_with_file(page, "paste", "pasted.txt", b"pasted text")
    expect(page.locator('.chip[data-state="ready"]')).to_have_count(3)
    expect(page.locator('.chip[data-state="failed"]')).to_contain_text("seem to be scanned")
    page.locator(".chip", has_text="pasted.txt").locator("[data-detach]").click()
    expect(page.locator(".chip")).to_have_count(3)
    page.fill("#prompt", "What is it?")
    page.keyboard.press("Enter")
    expect(page.locator(".vote button").first).to_be_visible()
    expect(page.locator(".attached .chip-name")).to_have_text(["report.pdf", "dropped.txt"])
    heard = [request["messages"][-1]["content"] for request in fake_provider.requests]
    described = [words for words in heard if "What is it?" in words]  # another test's battle may still be answered
    assert len(described) == 2
    for words in described:
        assert "from a PDF" in words
        assert "dropped text" in words
    dispatch_with_file(page, "paste", "more.txt", b"more text")
    expect(page.locator('.composer .chip[data-state="ready"]')).to_have_count(1)
    page.fill("#prompt", "And this?")
    page.locator("[data-follow-up]").click()
    expect(page.locator(".attached .chip-name")).to_have_text(["report.pdf", "dropped.txt", "more.txt"])
    expect(page.locator(".composer .chip")).to_have_count(0)


def test_refused_files_are_named_until_next_choice(arena: Arena, page: Page):
    page.goto(arena.url)
    empty, program, note = (
        {"name": name, "mimeType": "text/plain", "buffer": content}
        for name, content in (("empty.txt", b""), ("program.exe", b"MZ\x90\x00\xff"), ("note.txt", b"The ferry."))
    )
    page.set_input_files("[data-attach]", [empty, program])
    notices = page.locator(".prompt-box [role=alert] .notice")
    expect(notices).to_have_text(["empty.txt – The file is empty.", re.compile("program.exe – This is a program")])
    page.set_input_files("[data-attach]", note)
    expect(page.locator('.chip[data-state="ready"]')).to_have_count(1)
    expect(notices).to_have_count(0)


def test_sending_before_upload_finishes_asks_to_wait(arena: Arena, page: Page):
    page.goto(arena.url)
    held: list[Route] = []
    page.route("**/uploads/", lambda route: held.append(route))
    page.set_input_files("[data-attach]", {"name": "note.txt", "mimeType": "text/plain", "buffer": b"The ferry."})
    page.locator("#prompt").fill("What does it say?")
    page.keyboard.press("Enter")
    alert = page.locator(".prompt-box [role=alert]")
    expect(alert).to_contain_text("A file is still uploading.")
    while not held:
        page.wait_for_timeout(50)
    held[0].continue_()
    expect(page.locator('.chip[data-state="ready"]')).to_have_count(1)
    expect(alert).to_be_empty()
    page.keyboard.press("Enter")
    page.wait_for_url("**/s/**")


def test_removed_file_is_left_out_and_sent_file_can_be_read(arena: Arena, hand: Hand):
    page = hand.page
    page.goto(arena.url)
    with page.expect_file_chooser() as chooser:
        hand.choose_files(page.locator("[data-attach]"))
    chooser.value.set_files(
        [
            {"name": "note.txt", "mimeType": "text/plain", "buffer": b"The ferry leaves at noon."},
            {"name": "other.txt", "mimeType": "text/plain", "buffer": b"Of another day."},
        ]
    )
    expect(page.locator('.chip[data-state="ready"]')).to_have_count(2)
    hand.press(page.get_by_role("button", name="Remove other.txt"))
    expect(page.locator(".chip")).to_have_count(1)
    expect(page.locator("#prompt")).to_be_focused()
    hand.write(page.locator("#prompt"), "What does it say?")
    hand.press(page.get_by_role("button", name="Start the battle"))
    page.wait_for_url("**/s/**")
    expect(page.get_by_role("button", name="Tie")).to_be_visible()
    with page.context.expect_page() as opened:
        hand.press(page.get_by_role("link", name="note.txt"))
    expect(opened.value.get_by_text("The ferry leaves at noon.")).to_be_visible()


def test_pasted_picture_is_attached_but_not_that_of_pasted_text(arena: Arena, page: Page):
    page.goto(arena.url)
    cells = {"text/plain": "a\tb", "text/html": "<table><tr><td>a</td><td>b</td></tr></table>"}
    dispatch_with_file(page, "paste", "cells.png", pictures.picture(), cells)
    of_a_page = {"text/html": "<img src='https://elsewhere.example/a.png'>"}
    dispatch_with_file(page, "paste", "image.png", pictures.picture(), of_a_page)
    expect(page.locator('.chip[data-state="ready"]')).to_have_text(re.compile("image.png"))
    expect(page.locator(".chip")).to_have_count(1)
