"""A running arena for a module of browser tests, its models played by a provider that repeats what it is asked."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from tests.fake_provider import FakeProvider
from tests.faults.running import Arena, arena_with

ONLY_ECHOES_ARE_DRAWN = """
from models_registry.models import LanguageModel
LanguageModel.objects.exclude(slug__endswith="-one").update(status="paused")
"""


@pytest.fixture(scope="module")
def echoing() -> Iterator[Arena]:
    provider = FakeProvider().start()
    with arena_with(provider) as arena:
        yield arena
    provider.stop()


def ask(page: Page, arena: Arena, prompt: str) -> None:
    """A blind battle up to the vote: both panes show the prompt as an answer."""
    page.goto(arena.url)
    page.locator("#prompt").fill(prompt)
    page.get_by_role("button", name="Start the battle").click()
    page.wait_for_url("**/s/**")
    page.get_by_role("button", name="Left is better").wait_for(timeout=60_000)
