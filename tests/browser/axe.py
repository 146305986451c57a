"""What axe finds wrong with a page: against WCAG 2.2 AA, and against what its makers hold to be good practice."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 360, "height": 740}
_FIND = """([exclude, options]) => axe.run({ exclude }, options).then(({ violations }) =>
  violations.flatMap(({ id, nodes }) => nodes.map(({ html, target }) => `${id}: ${html.slice(0, 160)} ${target}`)))"""
# Rules of WCAG 2.2 are off by themselves.
_OPTIONS = {"resultTypes": ["violations"], "preload": False, "rules": {"target-size": {"enabled": True}}}
# Not ours: what Swagger UI draws (its schema is linked beside it), and Django's fields for dates, choices and rows.
_NOT_OURS = ["#api-documentation", ".datetime", ".select2", ".help-tooltip", ".inline-related td input"]
_STANDARD = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


def violations(page: Page) -> list[str]:
    """As the page is now; in Django's administration of the standard alone."""
    options = {**_OPTIONS, "runOnly": _STANDARD} if "/admin/" in page.url else _OPTIONS
    page.evaluate(Axe().axe_script)
    found = page.evaluate(_FIND, [_NOT_OURS, options])
    return [f"{page.url} {each}" for each in found]


def violations_in_every_look(page: Page) -> list[str]:
    """On a desktop in the light and on a phone in the dark; afterwards the page is as it was at first."""
    before = page.viewport_size or WIDE
    found = []
    for colours, size in (("light", WIDE), ("dark", PHONE)):
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=colours, reduced_motion="reduce")
        found += [f"{colours}: {each}" for each in violations(page)]
    page.set_viewport_size(before)
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    return found
