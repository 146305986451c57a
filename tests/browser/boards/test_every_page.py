"""Every page, found in the resolver: no axe violation, no sideways scrolling on phones, under 100 kB.

axe checks each template once per theme. tests.worlds.no_pages lists URLs without a page, with reasons.
"""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from site_content.colours import dark_colour, stylesheet_key
from tests.browser.helpers.arenas import ask, draw_only_echoes
from tests.browser.helpers.axe import FRAME, WIDE, violations_in_each_theme, violations_of_colours
from tests.fake_provider import PAUSE, FakeProvider
from tests.worlds.arena import Arena

pytestmark = pytest.mark.browser

EMAIL, PASSWORD = "everything@example.org", "a-good-password-1"
WEIGHED = [
    "/", "/?mode=side_by_side", "/?mode=compare", "/?mode=direct", "/?mode=auto", "/sessions/", "/uploads/",
    "/leaderboard/", "/leaderboard/charts/", "/leaderboard/models/gold/", "/leaderboard/compare/",
    "/leaderboard/compare/gold/silver/", "/leaderboard/snapshots/", "/leaderboard/method/", "/models/",
    "/data/",
    "/accounts/login/", "/accounts/signup/", "/accounts/password/reset/", "/nowhere/",
]  # fmt: skip
# Each of their tables has a caption, and each folded part a summary of its own.
WITH_TABLES = {
    "/leaderboard/", "/leaderboard/charts/", "/leaderboard/models/gold/", "/leaderboard/compare/gold/silver/",
    "/leaderboard/snapshots/",
}  # fmt: skip
TABLE_PROBLEMS = """() => {
  const tables = [...document.querySelectorAll("table")];
  const summaries = [...document.querySelectorAll("main summary")].map((summary) => summary.textContent.trim());
  return [
    ...(tables.length ? [] : ["no table"]),
    ...tables.filter((table) => !table.querySelector(":scope > caption")).map(() => "a table without caption"),
    ...summaries.filter((text, place) => summaries.indexOf(text) !== place).map((text) => `twice: ${text}`),
  ];
}"""
# Pairs of address and size as sent, also of resources from the cache.
SIZES = """() => ["navigation", "resource"].flatMap((type) => performance.getEntriesByType(type))
  .map((entry) => [entry.name, entry.encodedBodySize])"""
# Allowed colours with the least contrast, and the darkest; both of each dark theme with the least.
UGLIEST = [("#c000c0", "#949400"), ("#707000", "#ff4f4f"), ("#000000", dark_colour("#000000"))]
# Drawn by a script after the page has loaded.
DRAWN_LATER = {"/api/v1/docs/": "#api-documentation main[role=group]"}
ANSWER = "# A heading\n\n$$x^2$$\n\n```python\nx = 1\n```\n\n| a |\n|---|\n| 1 |\n\n[a link](https://example.com)"


@pytest.fixture(scope="module")
def everything(arena: Arena) -> dict[str, Any]:
    """Everything as JSON."""
    output = arena.shell("from tests.browser.helpers import everything; everything.print_json()")
    draw_only_echoes(arena)
    return json.loads(output)


def become(context: BrowserContext, arena: Arena, cookie: str) -> None:
    context.clear_cookies()
    if cookie:
        context.add_cookies([{"name": "sessionid", "value": cookie, "url": arena.url}])


def test_every_address_is_checked_or_named(everything: dict[str, Any]):
    assert everything["unseen"] == []
    assert sum(map(len, everything["pages"].values())) > 120


def test_no_template_has_axe_violations_and_no_page_is_too_wide(arena: Arena, everything: dict[str, Any], page: Page):
    problems, templates = [], set()
    for who, paths in everything["pages"].items():
        become(page.context, arena, everything["cookies"].get(who, ""))
        frame: set[str] = set()  # its checked parts: each is checked on the first page that has it
        for path in paths:
            template, is_ours = everything["templates"][path], not path.startswith("/admin/")
            if not is_ours:
                page.set_viewport_size(WIDE)
            if is_ours or template not in templates:
                page.goto(arena.url + path)
            if path in DRAWN_LATER:
                page.locator(DRAWN_LATER[path]).wait_for()
            if template not in templates:
                problems += violations_in_each_theme(page, without=sorted(frame))
                frame |= {part for part in FRAME if page.locator(part).count()}
            if is_ours:  # Django's administration is as wide as its tables are
                problems += too_wide(page)
            if path in WITH_TABLES:
                problems += [f"{path}: {problem}" for problem in page.evaluate(TABLE_PROBLEMS)]
            templates.add(template)
    assert problems == []
    assert len(templates) > 60
    assert set(everything["templates"]) >= WITH_TABLES


def test_dashboard_links_are_24_pixels_in_any_font(arena: Arena, everything: dict[str, Any], page: Page):
    become(page.context, arena, everything["cookies"]["member"])
    page.goto(f"{arena.url}/admin/")
    links = page.locator(".dashboard #content a")
    assert links.count() > 20
    links.evaluate_all("all => all.forEach((link) => (link.style.font = '6px/1 sans-serif'))")
    sizes = links.evaluate_all("all => all.map((link) => [link.offsetWidth, link.offsetHeight, link.textContent])")
    assert [size for size in sizes if min(size[:2]) < 24] == []


def test_moderation_queue_fits_1280_pixels(arena: Arena, everything: dict[str, Any], page: Page):
    become(page.context, arena, everything["cookies"]["member"])
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(f"{arena.url}/admin/battles/moderationcase/")
    expect(page.locator("#nav-sidebar")).to_be_visible()
    expect(page.locator("#result_list tbody tr").first).to_be_visible()
    scrolled, shown = page.locator(".results").evaluate("(table) => [table.scrollWidth, table.clientWidth]")
    assert scrolled <= shown
    page.locator("#result_list .action-select").first.check()
    page.locator("select[name=action]").first.select_option(index=1)
    with page.expect_navigation():
        page.locator("button[name=index]").first.click()
    expect(page.get_by_label("Why")).to_be_visible()
    assert violations_in_each_theme(page, without=FRAME) == []
    page.get_by_role("link", name="Cancel").click()
    expect(page.locator("#result_list")).to_be_visible()


def test_administration_stays_in_place_while_it_loads(arena: Arena, everything: dict[str, Any], page: Page):
    become(page.context, arena, everything["cookies"]["member"])
    page.route("**/nav_sidebar*.js", lambda route: route.abort())
    places = []
    for _ in range(2):
        page.goto(f"{arena.url}/admin/accounts/limit/")
        places.append([page.locator(part).bounding_box() for part in ("#nav-sidebar", "#content")])
        page.unroute_all()
    assert places[0] == places[1]


def test_colour_picker_and_field_follow_each_other(arena: Arena, everything: dict[str, Any], page: Page):
    become(page.context, arena, everything["cookies"]["member"])
    page.goto(f"{arena.url}/admin/site_content/siteidentity/")
    field, picker = page.locator("#id_accent"), page.locator("[data-colour-of=id_accent]")
    field.fill("#AA0000")
    expect(picker).to_have_value("#aa0000")
    picker.fill("#00509d")
    expect(field).to_have_value("#00509d")


def too_wide(page: Page) -> list[str]:
    """Return a sentence for each width (320: 400 % zoom) at which the page scrolls sideways; keeps the last width."""
    sentences = []
    for width in (320, 360, 640):
        page.set_viewport_size({"width": width, "height": 480})
        if (wide := page.evaluate("document.documentElement.scrollWidth")) > width:
            sentences.append(f"{page.url} is {wide} pixels wide on {width}")
    return sentences


def test_pages_weigh_under_100_kb_and_load_nothing_foreign(arena: Arena, everything: dict[str, Any], page: Page):
    """Sizes as sent to a browser without a cache; charts' library, font of formulas and streams are excepted."""
    too_heavy, foreign, with_font = {}, [], set()
    for address in WEIGHED:
        page.goto(arena.url + address, wait_until="networkidle" if "/leaderboard/" not in address else "load")
        sizes = page.evaluate(SIZES)
        foreign += [url for url, _ in sizes if not url.startswith((arena.url, "data:"))]
        weight = sum(size for url, size in sizes if not re.search("/(plotly|fonts|stream)/", url))
        with_font |= {address for url, _ in sizes if "/fonts/" in url}
        assert weight > 4_000  # the measurement works
        # The method is one page of text and formulas.
        if weight > (120_000 if address == "/leaderboard/method/" else 100_000):
            too_heavy[address] = weight
    assert (too_heavy, foreign) == ({}, [])
    assert with_font <= {"/leaderboard/method/"}


def test_refusal_pages_have_no_axe_violations(arena: Arena, everything: dict[str, Any], page: Page):
    violations = []
    for status, html in everything["refusals"].items():
        page.route("**/refused/", lambda route, _request, html=html: route.fulfill(body=html, content_type="text/html"))
        page.goto(f"{arena.url}/refused/")
        expect(page.locator(".status")).to_have_text(status)
        violations += violations_in_each_theme(page)
        page.unroute("**/refused/")
    assert violations == []


def test_battle_states_have_no_axe_violations(arena: Arena, fake_provider: FakeProvider, page: Page):
    draw_only_echoes(arena)
    ask(page, arena, ANSWER)
    violations = violations_in_each_theme(page)
    page.get_by_role("button", name="Tie").click()
    page.locator(".reveal").wait_for()
    for folded in ("Say why", "Share this battle", "Report"):
        page.locator("summary", has_text=folded).click()
    violations += violations_in_each_theme(page)
    page.locator("#prompt").fill("word " * 300 + f"{PAUSE} and more")
    page.get_by_role("button", name="Follow up with both").click()
    page.get_by_role("button", name="Stop").wait_for()
    violations += violations_in_each_theme(page)
    expect(page.get_by_role("button", name="Stop")).to_be_visible()  # the battle was being answered all the time
    page.get_by_role("button", name="Stop").click()
    page.locator("[data-state=stopped]").first.wait_for()
    violations += violations_in_each_theme(page)
    assert violations == []


def test_ugliest_accents_have_enough_contrast(arena: Arena, page: Page):
    draw_only_echoes(arena)
    ask(page, arena, ANSWER)
    page.get_by_role("button", name="Tie").click()
    page.locator(".reveal").wait_for()
    page.locator("summary", has_text="Say why").click()
    page.locator(".tag").first.click()
    violations = violations_with_accents(page)
    for path in ("/", "/leaderboard/", "/accounts/signup/"):
        page.goto(arena.url + path)
        violations += violations_with_accents(page)
    assert violations == []


def violations_with_accents(page: Page) -> list[str]:
    violations, accents = [], set()
    for light, dark in UGLIEST:
        page.add_style_tag(url=f"/site/accent/{stylesheet_key(light, dark)}.css")
        accents.add(page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--accent')"))
        violations += violations_of_colours(page)
    assert len(accents) == len(UGLIEST)
    return violations


def test_second_factor_page_has_no_axe_violations(arena: Arena, everything: dict[str, Any], page: Page):
    page.goto(f"{arena.url}/accounts/login/")
    page.locator("[name=login]").fill(EMAIL)
    page.locator("[name=password]").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url("**/2fa/authenticate/")
    assert violations_in_each_theme(page) == []
