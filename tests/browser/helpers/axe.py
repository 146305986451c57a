"""Checks with axe: WCAG 2.2 AA and axe's best practices."""

from typing import Any, Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, ViewportSize

WIDE: ViewportSize = {"width": 1280, "height": 900}
PHONE: ViewportSize = {"width": 360, "height": 740}
_FIND = """([exclude, options]) => axe.run({ exclude }, options).then(({ violations }) =>
  violations.flatMap(({ id, nodes }) => nodes.map(({ html, target }) => `${id}: ${html.slice(0, 160)} ${target}`)))"""
# axe disables the rules of WCAG 2.2 by default.
_OPTIONS = {"resultTypes": ["violations"], "preload": False, "rules": {"target-size": {"enabled": True}}}
_API_DOCUMENTATION = "#api-documentation"
# Foreign markup: Swagger UI (its schema is linked beside it), and Django's widgets of dates, choices and rows.
_NOT_OURS = [
    _API_DOCUMENTATION,
    ".datetime",
    ".select2",
    ".help-tooltip",
    ".inline-related td input",
    "#result_list tbody tr:nth-child(n+7)",  # further rows of a list in the administration are like the first
]
# Parts around the content of every page. They are most elements of a page of Django's administration.
FRAME = [".top", ".bottom", "#sessions", "#header", "#nav-sidebar"]
_COLOURS = {**_OPTIONS, "runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
_STANDARD = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
_DOCUMENTATION = {**_OPTIONS, "runOnly": _STANDARD}


def violations(page: Page, *, without: list[str] | None = None) -> list[str]:
    """Check the page as it is now; pages of Django's administration without the best practices.

    without: selectors of parts to leave out.
    """
    return _violations(page, {**_OPTIONS, "runOnly": _STANDARD} if "/admin/" in page.url else _OPTIONS, without)


def violations_of_documentation(page: Page) -> list[str]:
    """Check Swagger UI, too, without the best practices."""
    return _violations(page, _DOCUMENTATION)


def violations_of_colours(page: Page) -> list[str]:
    """Check only colours, in both themes."""
    return [f"light: {each}" for each in _violations(page, _COLOURS)] + violations_in_the_dark(page)


def violations_in_the_dark(page: Page, *, without: list[str] | None = None) -> list[str]:
    """Check the colours of the dark theme."""
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    sentences = _violations(page, _COLOURS, without)
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    return [f"dark: {each}" for each in sentences]


def violations_in_each_theme(page: Page, *, without: list[str] | None = None) -> list[str]:
    """Check light on a desktop and dark on a phone, then restore the page.

    Tables of Django's administration are wider than a phone: checked on a desktop only.
    """
    if "/admin/" in page.url:
        return violations(page, without=without) + violations_in_the_dark(page, without=without)
    before, sentences = page.viewport_size or WIDE, []
    looks: list[tuple[Literal["light", "dark"], ViewportSize]] = [("light", WIDE), ("dark", PHONE)]
    for theme, size in looks:
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        page.set_viewport_size(size)
        sentences += [f"{theme}, {size['width']} pixels: {each}" for each in violations(page, without=without)]
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    page.set_viewport_size(before)
    return sentences


def _violations(page: Page, options: dict[str, Any], without: list[str] | None = None) -> list[str]:
    page.wait_for_load_state()
    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
    # Swagger UI has the arena's colours, and its mended markup has a test of its own.
    has_documentation = options is _COLOURS or options is _DOCUMENTATION
    excluded = [part for part in _NOT_OURS if not has_documentation or part != _API_DOCUMENTATION]
    return [f"{page.url} {each}" for each in page.evaluate(_FIND, [excluded + (without or []), options])]
