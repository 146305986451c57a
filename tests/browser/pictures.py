"""Pictures of what a browser test sees, for somebody to look at."""

import os
from pathlib import Path

from playwright.sync_api import Page


def look(page: Page, name: str) -> None:
    """In the directory that ARENA_TEST_PICTURES names; nothing otherwise."""
    if to := os.environ.get("ARENA_TEST_PICTURES"):
        page.screenshot(path=Path(to) / f"{name}.png")
