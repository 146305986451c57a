"""A real Chromium: Debian's, without its own calls home, with one font whatever else is installed."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Playwright, expect, sync_playwright

from tests.browser.administration import ADMINISTRATOR
from tests.browser.arenas import PATIENT
from tests.browser.axe import WIDE
from tests.browser.browser_inputs import HANDS, PATIENCE_MS, Hand, fresh, new_context
from tests.fake_provider import FakeProvider
from tests.faults.running import Arena, arena_with

expect.set_options(timeout=PATIENCE_MS)

CHROMIUM = "/usr/bin/chromium"
FONT = Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")
FONTCONFIG = Path(__file__).with_name("fonts.conf")
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run",
]  # fmt: skip
ENVIRONMENT: dict[str, str | float | bool] = {**os.environ, "FONTCONFIG_FILE": str(FONTCONFIG)}


@pytest.fixture(scope="package")
def playwright() -> Iterator[Playwright]:
    """For all browser tests of a worker: while it is open, nothing else in this thread can run an event loop."""
    if not Path(CHROMIUM).exists():
        pytest.fail("Chromium is missing: apt-get install chromium")
    if not FONT.exists():
        pytest.fail("The font of the browser tests is missing: apt-get install fonts-dejavu-core")
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="package")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """One for all browser tests of a worker; each test has contexts of its own."""
    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS, env=ENVIRONMENT)
    yield browser
    browser.close()


@pytest.fixture
def complaints() -> list[str]:
    return []


@pytest.fixture
def page(browser: Browser, complaints: list[str]) -> Iterator[Page]:
    """A fresh browser. Afterwards nothing may have complained: no script error, no blocked or foreign request."""
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


@pytest.fixture(params=HANDS)
def hand(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Hand]:
    """A test that asks for one is a journey: it is made with each, in a fresh browser."""
    hand = fresh(browser, request.param)
    yield hand
    hand.page.context.close()


@pytest.fixture(scope="package")
def arena(_fake_provider: FakeProvider) -> Iterator[Arena]:
    """One for all files that need no other: its two models repeat the prompt, and may pause in it for any time.

    Its tests make what they need and leave the other tests' data alone.
    """
    with arena_with(_fake_provider, **PATIENT, **ADMINISTRATOR) as arena:
        arena.choose_limit("upload", "visitor", "off")
        yield arena


@pytest.fixture(autouse=True)
def _paused_answers_end(_fake_provider: FakeProvider) -> Iterator[None]:
    """They would keep the arena busy during later tests."""
    yield
    _fake_provider.go_on()
