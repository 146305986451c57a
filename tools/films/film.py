"""Screens of a page, one each second, under the caption of their moment."""

import base64
import io
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image, ImageChops, ImageDraw, ImageFont
from playwright.sync_api import CDPSession, ConsoleMessage, Page, Response

CAPTION_HEIGHT, FONT_SIZE = 44, 20
SHEET_WIDTH, SHEET_GAP = 2400, 12
# Width of a screen on the contact sheet, at most.
SMALL_WIDTH = 590
MAX_SHIFT = 0.05
# The browser's error for a refusal, which is noted as a response.
REFUSAL = "the server responded with a status of"
SHIFTS = """
window.layoutShift = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.layoutShift += entry.value;
}).observe({ type: "layout-shift", buffered: true });
"""
FOUND = """() => [
  Math.max(0, document.documentElement.scrollWidth - innerWidth),
  window.layoutShift,
  [...document.querySelectorAll("main :is(a, button, input, select, textarea)")].filter((one) => {
    const box = one.getBoundingClientRect();
    return box.width && box.height && (box.right > innerWidth + 1 || box.left < -1)
      && !one.closest(".table-frame, .results, .panes, pre");
  }).map((one) => one.outerHTML.slice(0, 120)),
]"""


@dataclass(frozen=True)
class Screen:
    second: int
    caption: str
    picture: Image.Image


class Film:
    """`found`: sentences about wide pages, moved layout, controls off the screen, refusals and errors of scripts."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self._taken: list[tuple[float, str, bytes]] = []
        self._caption = ""
        self._session: CDPSession | None = None
        self._followed: set[Page] = set()
        self._awaited = 0

    def follow(self, page: Page) -> None:
        """Take this page from now on, for the first time or again."""
        self._stop()
        self.page = page
        if page not in self._followed:
            self._followed.add(page)
            page.add_init_script(SHIFTS)
            page.on("pageerror", lambda error: self._note(f"error of a script: {error}"))
            page.on("console", self._note_console)
            page.on("response", self._note_refusal)
        self._session = page.context.new_cdp_session(page)
        self._session.on("Page.screencastFrame", self._keep)
        self._session.send("Page.startScreencast", {"format": "jpeg", "quality": 92})

    @contextmanager
    def refused(self, status: int) -> Iterator[None]:
        """Expect a refusal: it is not noted, its absence is."""
        self._awaited = status
        yield
        if self._awaited:
            self._note(f"no refusal with {status}")
        self._awaited = 0

    def _note_refusal(self, response: Response) -> None:
        if response.status == self._awaited:
            self._awaited = 0
        elif response.status >= 400:
            self._note(f"{response.status} {response.url}")

    def _note_console(self, message: ConsoleMessage) -> None:
        if message.type == "error" and REFUSAL not in message.text:
            self._note(f"console: {message.text}")

    def _stop(self) -> None:
        if self._session is not None:
            self._session.remove_listener("Page.screencastFrame", self._keep)
            self._session.send("Page.stopScreencast")

    def say(self, caption: str, seconds: float = 1) -> None:
        """Caption the screens from now on, after looking at the page as it is for a while."""
        self._caption = caption
        print(f"  {caption}")
        self.look(seconds)

    def look(self, seconds: float = 1) -> None:
        self.page.wait_for_timeout(1000 * seconds)
        self._examine()

    def _examine(self) -> None:
        wide, shift, outside = self.page.evaluate(FOUND)
        if wide:
            self._note(f"{wide} pixels too wide")
        if shift and shift > MAX_SHIFT:
            self._note(f"layout moved by {shift:.2f}")
        for control in outside:
            self._note(f"off the screen: {control}")

    def _note(self, sentence: str) -> None:
        sentence = f"{self._caption}: {sentence} ({self.page.url.partition('//')[2].partition('/')[2]})"
        if sentence not in self.found:
            self.found.append(sentence)

    def _keep(self, frame: dict[str, Any]) -> None:
        assert self._session is not None
        self._taken.append((time.monotonic(), self._caption, base64.b64decode(frame["data"])))
        self._session.send("Page.screencastFrameAck", {"sessionId": frame["sessionId"]})

    def screens(self) -> list[Screen]:
        """Stop, and return the newest screen of each second."""
        self._stop()
        return [
            Screen(second, caption, _with_caption(Image.open(io.BytesIO(data)).convert("RGB"), second, caption))
            for second, (caption, data) in newest_of_each_second(self._taken).items()
        ]


def newest_of_each_second(taken: list[tuple[float, str, bytes]]) -> dict[int, tuple[str, bytes]]:
    """Return captions and pictures by whole seconds since the first; taken: with their times."""
    start = taken[0][0] if taken else 0
    return {math.floor(at - start): (caption, data) for at, caption, data in taken}


def _with_caption(screen: Image.Image, second: int, caption: str) -> Image.Image:
    font = ImageFont.load_default(FONT_SIZE)
    text = f"{second // 60}:{second % 60:02} {caption}"
    lines = _lines(text, font, screen.width - 20)
    picture = Image.new("RGB", (screen.width, screen.height + CAPTION_HEIGHT + (len(lines) - 1) * 24), "#222")
    picture.paste(screen, (0, 0))
    ImageDraw.Draw(picture).multiline_text((10, screen.height + 9), "\n".join(lines), "#fff", font)
    return picture


def _lines(text: str, font: Any, width: int) -> list[str]:
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if font.getlength(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def store(screens: list[Screen], folder: Path) -> None:
    """Write the screens, and beside the folder one sheet of all that differ; nothing without screens."""
    if not screens:
        return
    folder.mkdir(parents=True, exist_ok=True)
    for screen in screens:
        screen.picture.save(folder / f"{screen.second:03}.jpg", quality=90)
    _sheet(different(screens)).save(folder.with_suffix(".jpg"), quality=85)


def different(screens: list[Screen]) -> list[Screen]:
    """Leave out screens that look like the one before."""
    kept = screens[:1]
    for screen in screens[1:]:
        before = kept[-1]
        if screen.caption != before.caption or screen.picture.size != before.picture.size:
            kept.append(screen)
            continue
        part = (0, 0, screen.picture.width, screen.picture.height - CAPTION_HEIGHT)
        if ImageChops.difference(screen.picture.crop(part), before.picture.crop(part)).getbbox():
            kept.append(screen)
    return kept


def _sheet(screens: list[Screen]) -> Image.Image:
    width = min(SMALL_WIDTH, screens[0].picture.width * 3 // 4)
    columns = (SHEET_WIDTH + SHEET_GAP) // (width + SHEET_GAP)
    small = [
        screen.picture.resize((width, screen.picture.height * width // screen.picture.width)) for screen in screens
    ]
    rows = [small[start : start + columns] for start in range(0, len(small), columns)]
    heights = [max(picture.height for picture in row) + SHEET_GAP for row in rows]
    sheet = Image.new("RGB", (columns * (width + SHEET_GAP), sum(heights)), "#666")
    top = 0
    for row, height in zip(rows, heights, strict=True):
        for column, picture in enumerate(row):
            sheet.paste(picture, (column * (width + SHEET_GAP), top))
        top += height
    return sheet
