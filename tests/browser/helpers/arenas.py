"""Setup and steps of browser tests: arenas, votes, battles."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from playwright.sync_api import Page

from tests.site import Reader
from tests.waiting import wait_for
from tests.worlds.arena import Arena, copy_prepared_data, new_data_dir

DEFAULT_MODELS = settings.BASE_DIR / "config" / "models.yaml"
# Environment of an arena: no answer times out while a test looks at the middle of it.
PATIENT = {f"ARENA_DEADLINE_{which}_S": "600" for which in ("FIRST", "IDLE", "TOTAL")}
PAUSE_OTHER_MODELS = """
from models_registry.models import LanguageModel
LanguageModel.objects.exclude(slug__endswith="-one").update(status="paused")
"""
CHOICE = re.compile(r'name="models" value="[^"]+"(?: checked)?\s*>')  # of a model that is set up


@contextmanager
def arena_with_local_model(**environment: str) -> Iterator[Arena]:
    """Start an arena as `make up` does, with the real local model and short answers."""
    with new_data_dir() as data_dir:
        copy_prepared_data(data_dir)
        models = data_dir.with_name("models.yaml")
        ours = DEFAULT_MODELS.read_text().replace("max_tokens: 400", "max_tokens: 80")
        models.write_text(ours.replace("deadlines: {first: 120}", "deadlines: {first: 600}"))
        own = PATIENT | {"ARENA_LOCAL_MODEL": "1", "ARENA_LISTED_FROM_VOTES": "1", "ARENA_MODELS_FILE": str(models)}
        arena = Arena(data_dir)
        arena.environment |= own | environment
        try:
            yield arena.start()
        finally:
            arena.stop()


def draw_only_echoes(arena: Arena) -> None:
    """Leave only the two models that repeat prompts; another model would fail and void the battle."""
    arena.shell(PAUSE_OTHER_MODELS)
    visitor = Reader(arena.url)
    wait_for(lambda: len(CHOICE.findall(visitor.get("/?mode=compare").text)) == 2)


def vote(arena: Arena) -> None:
    """Cast votes on gold, silver, bronze and a newcomer, created on the first call, and publish the boards."""
    arena.shell("from tests.browser.helpers import votes; votes.cast_round()")


def publish(arena: Arena) -> None:
    """Publish the boards."""
    arena.shell("from tests.browser.helpers import votes; votes.publish()")


def rename_session(page: Page, title: str) -> None:
    page.locator("summary", has_text="This session").click()
    page.get_by_label("Title", exact=True).fill(title)
    page.get_by_role("button", name="Rename", exact=True).click()
    page.locator("h1:not(.unseen)", has_text=title).wait_for()


def ask(page: Page, arena: Arena, prompt: str) -> None:
    """Start a blind battle and wait for the vote buttons; both panes show the prompt as an answer."""
    page.goto(arena.url)
    page.locator("#prompt").fill(prompt)
    page.get_by_role("button", name="Start the battle").click()
    page.wait_for_url("**/s/**")
    page.get_by_role("button", name="A is better").wait_for()
