"""A running arena for a module of browser tests: its models the real local one, or a provider that repeats prompts."""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page

from tests.faults.running import Arena
from tests.waiting import wait_for

# For an arena's environment: no answer is given up while somebody looks at the middle of it.
PATIENT = {"ARENA_DEADLINE_IDLE_S": "600", "ARENA_DEADLINE_TOTAL_S": "600"}
ONLY_ECHOES_ARE_DRAWN = """
from models_registry.models import LanguageModel
LanguageModel.objects.exclude(slug__endswith="-one").update(status="paused")
"""


@contextmanager
def arena_with_local_model(**environment: str) -> Iterator[Arena]:
    """As `make up` starts it, and all that is left of it gone afterwards."""
    directory = Path(tempfile.mkdtemp(prefix="arena-browser-", dir="/tmp"))
    directory.chmod(0o711)  # PostgreSQL of a root user runs as nobody
    arena = Arena(directory / "data")
    arena.environment |= {"ARENA_LOCAL_MODEL": "1", "ARENA_LISTED_FROM_VOTES": "1"} | environment
    try:
        yield arena.start()
    finally:
        arena.stop()
        shutil.rmtree(directory)


def play(arena: Arena, module: str, *arguments: str, within: float) -> str:
    """What tests.browser.<module> says, which makes in the arena's database what would take long in a browser."""
    done = arena.run(sys.executable, "-m", f"tests.browser.{module}", *arguments, within=within)
    assert done.returncode == 0, done.stderr
    return done.stdout


def publish(arena: Arena) -> None:
    """What was voted, as soon as no other run is under way: the arena has its own."""
    wait_for(lambda: arena.run(sys.executable, "manage.py", "aggregate_votes").returncode == 0)


def ask(page: Page, arena: Arena, prompt: str) -> None:
    """A blind battle up to the vote: both panes show the prompt as an answer."""
    page.goto(arena.url)
    page.locator("#prompt").fill(prompt)
    page.get_by_role("button", name="Start the battle").click()
    page.wait_for_url("**/s/**")
    page.get_by_role("button", name="Left is better").wait_for(timeout=60_000)
