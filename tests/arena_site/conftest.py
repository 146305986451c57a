from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _storage(settings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "uploads"
