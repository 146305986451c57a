"""Files are chosen, dropped and pasted into the prompt box, and go with the prompt."""

import base64
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.fake_provider import FakeProvider
from tests.faults.running import Arena, arena_with
from tests.uploads import pdfs, pictures

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

HAND_OVER = """([kind, name, content, texts]) => {
  const carried = new DataTransfer();
  for (const type in texts) carried.setData(type, texts[type]);
  carried.items.add(new File([Uint8Array.from(atob(content), (sign) => sign.charCodeAt(0))], name));
  const options = { bubbles: true, cancelable: true };
  const event = kind === "paste" ? new ClipboardEvent("paste", { clipboardData: carried, ...options })
    : new DragEvent(kind, { dataTransfer: carried, ...options });
  document.getElementById("prompt").dispatchEvent(event);
}"""


@pytest.fixture(scope="module")
def provider() -> Iterator[FakeProvider]:
    provider = FakeProvider().start()
    yield provider
    provider.stop()


@pytest.fixture(scope="module")
def arena(provider: FakeProvider) -> Iterator[Arena]:
    with arena_with(provider, ARENA_LIMIT_UPLOAD_VISITOR="off") as arena:
        yield arena


def hand_over(page: Page, kind: str, name: str, content: bytes, texts: dict[str, str] | None = None) -> None:
    page.evaluate(HAND_OVER, [kind, name, base64.b64encode(content).decode(), texts or {}])


def test_files_come_by_choice_drop_and_paste_and_go_with_the_prompt(arena: Arena, provider: FakeProvider, page: Page):
    page.goto(arena.url)
    report = {"name": "report.pdf", "mimeType": "application/pdf", "buffer": pdfs.saying("from a PDF")}
    scan = {"name": "scan.pdf", "mimeType": "application/pdf", "buffer": pdfs.scanned()}
    page.set_input_files("[data-attach]", [report, scan])
    hand_over(page, "dragover", "dropped.txt", b"dropped text")
    expect(page.locator(".composer.dropping")).to_have_count(1)
    hand_over(page, "drop", "dropped.txt", b"dropped text")
    expect(page.locator(".composer.dropping")).to_have_count(0)
    hand_over(page, "paste", "pasted.txt", b"pasted text")
    expect(page.locator('.chip[data-state="ready"]')).to_have_count(3)
    expect(page.locator('.chip[data-state="failed"]')).to_contain_text("seem to be scanned")
    page.locator(".chip", has_text="pasted.txt").locator("[data-detach]").click()
    expect(page.locator(".chip")).to_have_count(3)
    page.fill("#prompt", "What is it?")
    page.keyboard.press("Enter")
    expect(page.locator(".vote button").first).to_be_visible()
    expect(page.locator(".attached .chip-name")).to_have_text(["report.pdf", "dropped.txt"])
    for request in provider.requests:
        assert "from a PDF" in request["messages"][-1]["content"]
        assert "dropped text" in request["messages"][-1]["content"]
    hand_over(page, "paste", "more.txt", b"more text")
    expect(page.locator('.composer .chip[data-state="ready"]')).to_have_count(1)
    page.fill("#prompt", "And this?")
    page.locator("[data-follow-up]").click()
    expect(page.locator(".attached .chip-name")).to_have_text(["report.pdf", "dropped.txt", "more.txt"])
    expect(page.locator(".composer .chip")).to_have_count(0)


def test_a_pasted_picture_is_attached_but_not_the_picture_of_a_pasted_text(arena: Arena, page: Page):
    page.goto(arena.url)
    cells = {"text/plain": "a\tb", "text/html": "<table><tr><td>a</td><td>b</td></tr></table>"}
    hand_over(page, "paste", "cells.png", pictures.picture(), cells)
    of_a_page = {"text/html": "<img src='https://elsewhere.example/a.png'>"}
    hand_over(page, "paste", "image.png", pictures.picture(), of_a_page)
    expect(page.locator('.chip[data-state="ready"]')).to_have_text(re.compile("image.png"))
    expect(page.locator(".chip")).to_have_count(1)
