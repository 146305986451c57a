"""Take one picture with the look's width, the page's height and few colours."""

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
    # Number of colours, and maximum height in CSS pixels: longer pages repeat themselves.
    palette: int
    max_height: int


LOOKS = {
    "light": Look("light", 1280, 860, palette=56, max_height=1200),
    "dark": Look("dark", 1280, 860, palette=40, max_height=860),
    "phone": Look("light", 360, 740, palette=40, max_height=1000),
}


# RGB triples from the stylesheets, light and dark: accents, errors, the first series of charts.
ACCENTS = "1c6b50135039e1efe8a1332cf9e9e71a5a9494480bd98f585aab8c7cc7a5a3dcc121352cf0a29b3a232193c4f0eab27f8f4f1e276e52"
# Undo sticky positions for pictures of whole pages: the sidebar reaches down, the vote bar stays with its answers.
UNSTICK = """
const styles = { ".docked .sidebar": { height: "auto" }, ".vote, .answering": { position: "static" } };
for (const [selector, style] of Object.entries(styles))
  for (const element of document.querySelectorAll(selector)) Object.assign(element.style, style);
"""


def photograph(page: Page, to: Path, look: Look) -> None:
    page.evaluate("window.scrollTo(0, 0)")
    page.evaluate(UNSTICK)
    width, height = page.evaluate("[innerWidth, Math.max(innerHeight, document.documentElement.scrollHeight)]")
    clip = {"x": 0, "y": 0, "width": width, "height": min(height, look.max_height)}
    taken = page.screenshot(full_page=True, clip=clip, animations="disabled")
    to.parent.mkdir(parents=True, exist_ok=True)
    with_palette(Image.open(io.BytesIO(taken)).convert("RGB"), look.palette).save(to, optimize=True)


def with_palette(picture: Image.Image, number: int) -> Image.Image:
    """Reduce the picture to its `number` most common colours and the accents, which cover few pixels."""
    accents = [int(ACCENTS[at : at + 2], 16) for at in range(0, len(ACCENTS), 2)]
    common = picture.quantize(number, method=Image.Quantize.MEDIANCUT).getpalette() or []
    palette = Image.new("P", (1, 1))
    palette.putpalette(common[: 3 * number] + accents)
    return picture.quantize(palette=palette, dither=Image.Dither.NONE)


def settle(page: Page) -> None:
    """Wait until charts are drawn and content loaded by scripts has arrived."""
    page.wait_for_timeout(100)
    page.locator(".htmx-request").first.wait_for(state="detached")
    if page.locator(".api-documentation").count():
        page.locator(".opblock").first.wait_for(timeout=30_000)
    if page.locator("[data-chart]").count():
        page.locator(".main-svg").first.wait_for(timeout=30_000)
        page.wait_for_timeout(500)
