"""One picture: as wide as the look, as high as the page, in few colours."""

import io
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page


@dataclass(frozen=True)
class Look:
    colours: str
    width: int
    height: int
    # Of the picture: how many colours, and how high at most in CSS pixels; what is longer says nothing new.
    palette: int
    highest: int


LOOKS = {
    "light": Look("light", 1280, 860, palette=56, highest=1200),
    "dark": Look("dark", 1280, 860, palette=40, highest=860),
    "phone": Look("light", 360, 740, palette=40, highest=1000),
}


# Of the stylesheets, in light and in dark: accents, what is bad, and the first series of charts.
ACCENTS = "1c6b50135039e1efe8a1332cf9e9e71a5a9494480bd98f585aab8c7cc7a5a3dcc121352cf0a29b3a232193c4f0eab27f8f4f1e276e52"
# What follows the reader stands where the page begins: the sidebar reaches down, the vote bar stays with its answers.
AS_ONE_SHEET = """
const styles = { ".docked .sidebar": { height: "auto" }, ".vote, .answering": { position: "static" } };
for (const [selector, style] of Object.entries(styles))
  for (const element of document.querySelectorAll(selector)) Object.assign(element.style, style);
"""


def photograph(page: Page, to: Path, look: Look) -> None:
    page.evaluate("window.scrollTo(0, 0)")
    page.evaluate(AS_ONE_SHEET)
    width, height = page.evaluate("[innerWidth, Math.max(innerHeight, document.documentElement.scrollHeight)]")
    clip = {"x": 0, "y": 0, "width": width, "height": min(height, look.highest)}
    taken = page.screenshot(full_page=True, clip=clip, animations="disabled")
    to.parent.mkdir(parents=True, exist_ok=True)
    in_few_colours(Image.open(io.BytesIO(taken)).convert("RGB"), look.palette).save(to, optimize=True)


def in_few_colours(picture: Image.Image, number: int) -> Image.Image:
    """Those that cover most of it, and the accents, which cover little and say much."""
    accents = [int(ACCENTS[at : at + 2], 16) for at in range(0, len(ACCENTS), 2)]
    common = picture.quantize(number, method=Image.Quantize.MEDIANCUT).getpalette() or []
    palette = Image.new("P", (1, 1))
    palette.putpalette(common[: 3 * number] + accents)
    return picture.quantize(palette=palette, dither=Image.Dither.NONE)


def settle(page: Page) -> None:
    """Charts are drawn, and what comes by itself has come."""
    page.wait_for_timeout(100)
    if page.locator(".api-documentation").count():
        page.locator(".opblock").first.wait_for(timeout=30_000)
    if page.locator("[data-chart]").count():
        page.locator(".main-svg").first.wait_for(timeout=30_000)
        page.wait_for_timeout(500)
