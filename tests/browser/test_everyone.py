"""Everybody can use it: axe on every page, light and dark; by keyboard alone; 320 pixels, which is 400 % zoom, too."""

import sys
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Request, expect

from tests.browser.arenas import ONLY_ECHOES_ARE_DRAWN, ask
from tests.fake_provider import FakeProvider
from tests.faults.running import Arena, arena_with

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]

EMAIL, PASSWORD = "reader@example.org", "a-good-password"
MEMBER = f"""
from allauth.account.models import EmailAddress
from accounts.models import User
user = User.objects.create_superuser("{EMAIL}", "{PASSWORD}")
EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
"""
# All but /api/v1/docs/: what Swagger UI draws is not ours, and its schema is linked beside it.
ANYBODYS = [
    "/", "/?mode=side_by_side", "/?mode=compare", "/?mode=direct", "/sessions/", "/uploads/",
    "/leaderboard/", "/leaderboard/charts/", "/leaderboard/models/gold/", "/leaderboard/compare/",
    "/leaderboard/compare/gold/silver/", "/leaderboard/snapshots/", "/leaderboard/method/",
    "/accounts/login/", "/accounts/signup/", "/accounts/password/reset/", "/nowhere/",
]  # fmt: skip
MEMBERS = [
    "/accounts/email/", "/accounts/password/change/", "/accounts/browsers/", "/accounts/tokens/", "/accounts/2fa/",
    "/accounts/2fa/totp/activate/",
    "/accounts/2fa/webauthn/add/", "/accounts/data/", "/accounts/logout/", "/styleguide/",
]  # fmt: skip
ANSWER = "# A heading\n\n$$x^2$$\n\n```python\nx = 1\n```\n\n| a |\n|---|\n| 1 |\n\n[a link](https://example.com)"


@pytest.fixture(scope="module")
def arena() -> Iterator[Arena]:
    provider = FakeProvider().start()
    with arena_with(provider) as arena:
        voted = arena.run(sys.executable, "-m", "tests.browser.votes")
        assert voted.returncode == 0, voted.stderr
        for command in (MEMBER, ONLY_ECHOES_ARE_DRAWN):
            done = arena.run(sys.executable, "manage.py", "shell", "-c", command)
            assert done.returncode == 0, done.stderr
        yield arena
    provider.stop()


def violations(page: Page) -> list[str]:
    found = Axe().run(page).response["violations"]
    return [
        f"{page.url} {each['id']}: {node['html'][:160]} {node['target']}" for each in found for node in each["nodes"]
    ]


def sign_in(page: Page, url: str) -> None:
    page.goto(f"{url}/accounts/login/")
    page.locator("[name=login]").fill(EMAIL)
    page.locator("[name=password]").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "/login/" not in url)


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_axe_finds_nothing_on_any_page(arena: Arena, page: Page, colours: str):
    page.emulate_media(color_scheme=colours, reduced_motion="reduce")
    found: list[str] = []
    for address in ANYBODYS:
        page.goto(arena.url + address)
        found += violations(page)
    ask(page, arena, ANSWER)
    found += violations(page)
    page.get_by_role("button", name="Tie").click()
    page.locator(".reveal").wait_for()
    found += violations(page)
    sign_in(page, arena.url)
    for address in MEMBERS:
        page.goto(arena.url + address)
        found += violations(page)
    assert found == []


@pytest.mark.parametrize("width", [320, 640])
def test_no_page_is_wider_than_a_narrow_phone_or_a_screen_at_twice_its_size(arena: Arena, page: Page, width: int):
    page.set_viewport_size({"width": width, "height": 480})
    sign_in(page, arena.url)
    too_wide = []
    for address in [*ANYBODYS, *MEMBERS]:
        page.goto(arena.url + address)
        if page.evaluate("document.documentElement.scrollWidth") > width:
            too_wide.append(address)
    assert too_wide == []


def test_every_page_is_light_and_all_of_it_is_our_own(arena: Arena, browser: Browser):
    """As sent, to a browser that has nothing yet; a chart's library comes on top."""
    too_heavy, foreign = {}, []
    for address in ANYBODYS:
        context = browser.new_context()
        page = context.new_page()
        asked: list[Request] = []
        page.on("requestfinished", lambda request, asked=asked: asked.append(request))
        page.goto(arena.url + address, wait_until="networkidle" if "/leaderboard/" not in address else "load")
        foreign += [request.url for request in asked if not request.url.startswith((arena.url, "data:"))]
        ours = [request for request in asked if "/plotly/" not in request.url and "/stream/" not in request.url]
        weight = sum(request.sizes()["responseBodySize"] for request in ours)
        assert weight > 4_000  # it is weighed at all
        if weight > 100_000:
            too_heavy[address] = weight
        context.close()
    assert (too_heavy, foreign) == ({}, [])


def test_an_answer_from_right_to_left_is_read_so_and_nothing_moves_for_who_wants_no_motion(arena: Arena, page: Page):
    ask(page, arena, "لماذا السماء زرقاء؟")
    written = page.locator(".answer > [id$='-done']").first
    assert written.evaluate("element => getComputedStyle(element).direction") == "rtl"
    assert page.locator(".pane-tabs").evaluate("element => getComputedStyle(element).direction") == "ltr"
    page.get_by_role("button", name="Tie").click()
    lasts = "element => parseFloat(getComputedStyle(element).animationDuration)"
    assert page.locator(".card").first.evaluate(lasts) < 0.001
    page.emulate_media(reduced_motion="no-preference")
    assert page.locator(".card").first.evaluate(lasts) > 0.1


def test_a_battle_from_the_first_tab_to_the_names_by_keyboard_alone(arena: Arena, page: Page):
    page.goto(f"{arena.url}/leaderboard/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()
    page.goto(arena.url)
    expect(page.locator("#prompt")).to_be_focused()
    page.keyboard.type("one two three")
    page.keyboard.press("Enter")
    page.wait_for_url("**/s/**")
    expect(page.locator("#announcer")).not_to_be_empty(timeout=60_000)  # said once: the answers are there
    first = page.locator(".vote button").first
    expect(first).to_be_visible()
    first.focus()
    order = []
    for _ in range(4):
        order.append(page.evaluate("document.activeElement.value"))
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
        page.keyboard.press("Tab")
    assert order == ["left", "tie", "both_bad", "right"]
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".reveal")).to_be_focused()
    expect(page.locator(".said")).to_contain_text("You found the right answer better.")
