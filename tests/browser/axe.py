"""What axe finds wrong with a page: against WCAG 2.2 AA, and against what its makers hold to be good practice."""

from typing import Any, Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, ViewportSize

WIDE: ViewportSize = {"width": 1280, "height": 900}
PHONE: ViewportSize = {"width": 360, "height": 740}
_FIND = """([exclude, options]) => axe.run({ exclude }, options).then(({ violations }) =>
  violations.flatMap(({ id, nodes }) => nodes.map(({ html, target }) => `${id}: ${html.slice(0, 160)} ${target}`)))"""
# Rules of WCAG 2.2 are off by themselves.
_OPTIONS = {"resultTypes": ["violations"], "preload": False, "rules": {"target-size": {"enabled": True}}}
# Not ours: what Swagger UI draws (its schema is linked beside it), and Django's fields for dates, choices and rows.
_NOT_OURS = ["#api-documentation", ".datetime", ".select2", ".help-tooltip", ".inline-related td input"]
_COLOURS = {**_OPTIONS, "runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
_STANDARD = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


def violations(page: Page) -> list[str]:
    """As the page is now; in Django's administration of the standard alone."""
    return _found(page, {**_OPTIONS, "runOnly": _STANDARD} if "/admin/" in page.url else _OPTIONS)


def violations_in_the_dark(page: Page) -> list[str]:
    """What a page that is good in the light may have against it: its colours."""
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    found = _found(page, _COLOURS)
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    return [f"dark: {each}" for each in found]


def violations_in_each_theme(page: Page) -> list[str]:
    """Check light on a desktop and dark on a phone; afterwards the page looks as before.

    In Django's administration, which is as wide as its tables are, the desktop alone.
    """
    if "/admin/" in page.url:
        return violations(page) + violations_in_the_dark(page)
    before, found = page.viewport_size or WIDE, []
    looks: list[tuple[Literal["light", "dark"], ViewportSize]] = [("light", WIDE), ("dark", PHONE)]
    for theme, size in looks:
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        page.set_viewport_size(size)
        found += [f"{theme}, {size['width']} pixels: {each}" for each in violations(page)]
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    page.set_viewport_size(before)
    return found


def _found(page: Page, options: dict[str, Any]) -> list[str]:
    page.wait_for_load_state()
    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
    return [f"{page.url} {each}" for each in page.evaluate(_FIND, [_NOT_OURS, options])]
