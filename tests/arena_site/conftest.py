"""What tests of the whole site share."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _storage(settings, tmp_path: Path) -> None:
    """Each test's files are its own."""
    settings.MEDIA_ROOT = tmp_path / "uploads"
