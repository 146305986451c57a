"""One picture: as wide as the look, as high as the page, in few colours."""

import io
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page

COLOURS = 64
HIGHEST = 1600  # CSS pixels; what is longer says nothing new


@dataclass(frozen=True)
class Look:
    colours: str
    width: int
    height: int


LOOKS = {"light": Look("light", 1280, 860), "dark": Look("dark", 1280, 860), "phone": Look("light", 360, 740)}


# What follows the reader stands where the page begins: the sidebar reaches down, the vote bar stays with its answers.
AS_ONE_SHEET = """
const styles = { ".docked .sidebar": { height: "auto" }, ".vote, .answering": { position: "static" } };
for (const [selector, style] of Object.entries(styles))
  for (const element of document.querySelectorAll(selector)) Object.assign(element.style, style);
"""


def photograph(page: Page, to: Path) -> None:
    page.evaluate("window.scrollTo(0, 0)")
    page.evaluate(AS_ONE_SHEET)
    width, height = page.evaluate("[innerWidth, Math.max(innerHeight, document.documentElement.scrollHeight)]")
    clip = {"x": 0, "y": 0, "width": width, "height": min(height, HIGHEST)}
    taken = page.screenshot(full_page=True, clip=clip, animations="disabled")
    picture = Image.open(io.BytesIO(taken)).convert("RGB")
    few = picture.quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    to.parent.mkdir(parents=True, exist_ok=True)
    few.save(to, optimize=True)


def settle(page: Page) -> None:
    """Charts are drawn, and what comes by itself has come."""
    page.wait_for_timeout(100)
    if page.locator(".api-documentation").count():
        page.locator(".opblock").first.wait_for(timeout=30_000)
    if page.locator("[data-chart]").count():
        page.locator(".main-svg").first.wait_for(timeout=30_000)
        page.wait_for_timeout(500)
