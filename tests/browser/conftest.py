"""Debian's Chromium without its own network requests, with one font."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Playwright, expect, sync_playwright

from tests.browser.helpers.administration import ADMINISTRATOR
from tests.browser.helpers.arenas import PATIENT
from tests.browser.helpers.axe import WIDE
from tests.browser.helpers.browser_inputs import HANDS, PATIENCE_MS, Hand, fresh, new_context
from tests.fake_issuer import FakeIssuer
from tests.fake_provider import FakeProvider
from tests.worlds.arena import Arena, arena_with
from tests.worlds.chromium import ARGUMENTS, CHROMIUM

expect.set_options(timeout=PATIENCE_MS)

FONT = Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")
FONTCONFIG = Path(__file__).with_name("fonts.conf")
ENVIRONMENT: dict[str, str | float | bool] = {**os.environ, "FONTCONFIG_FILE": str(FONTCONFIG)}


@pytest.fixture(scope="package")
def playwright() -> Iterator[Playwright]:
    """Share Playwright per worker; while it is open, no other event loop can run in this thread."""
    if not Path(CHROMIUM).exists():
        pytest.fail("Chromium is missing: apt-get install chromium-headless-shell")
    if not FONT.exists():
        pytest.fail("The font of the browser tests is missing: apt-get install fonts-dejavu-core")
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="package")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """Share the browser per worker; each test has contexts of its own."""
    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS, env=ENVIRONMENT)
    yield browser
    browser.close()


@pytest.fixture
def complaints() -> list[str]:
    return []


@pytest.fixture
def page(browser: Browser, complaints: list[str]) -> Iterator[Page]:
    """A page in a new context; fails the test on script errors and on blocked or foreign requests."""
    context = new_context(browser, viewport=WIDE, reduced_motion="reduce")
    page = context.new_page()
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if "Security Policy" in message.text else None)
    page.on(
        "request",
        lambda request: (
            None if request.url.startswith(("http://127.0.0.1", "data:")) else complaints.append(request.url)
        ),
    )
    yield page
    context.close()
    assert complaints == []


@pytest.fixture(params=[name for name in HANDS if name != "keys-zoomed"])
def hand(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Hand]:
    """Repeat the test with each kind of hand, in a new context."""
    hand = fresh(browser, request.param)
    yield hand
    hand.page.context.close()


@pytest.fixture(scope="package")
def issuer() -> Iterator[FakeIssuer]:
    running = FakeIssuer()
    yield running
    running.close()


@pytest.fixture(scope="package")
def arena(_fake_provider: FakeProvider, issuer: FakeIssuer) -> Iterator[Arena]:
    """Arena shared by files without special needs; its two models repeat the prompt and pause at ⏸.

    Tests create their own data and leave other data alone.
    """
    with arena_with(_fake_provider, **PATIENT, **ADMINISTRATOR, **issuer.variables) as arena:
        arena.choose_limit("upload", "visitor", "off")
        yield arena


@pytest.fixture(autouse=True)
def _paused_answers_end(_fake_provider: FakeProvider) -> Iterator[None]:
    """Paused answers would keep the arena busy during later tests."""
    yield
    _fake_provider.go_on()
