import os
from pathlib import Path

from playwright.sync_api import Page


def look(page: Page, name: str) -> None:
    """Save a screenshot in ARENA_TEST_PICTURES; do nothing without that variable."""
    if to := os.environ.get("ARENA_TEST_PICTURES"):
        page.screenshot(path=Path(to) / f"{name}.png")
