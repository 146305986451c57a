from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _storage(settings, tmp_path: Path) -> None:
    """Give each test a media directory of its own."""
    settings.MEDIA_ROOT = tmp_path / "uploads"
