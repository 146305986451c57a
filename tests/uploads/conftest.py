from pathlib import Path

import pytest
from django.core.files.storage import default_storage


@pytest.fixture(autouse=True)
def _storage(settings, tmp_path: Path) -> Path:
    """Store files in a directory per test."""
    settings.MEDIA_ROOT = tmp_path / "uploads"
    return settings.MEDIA_ROOT


def stored_files() -> list[str]:
    """Return names of all stored files, unordered."""
    try:
        folders, _ = default_storage.listdir("")
    except FileNotFoundError:
        return []
    return [f"{folder}/{file}" for folder in folders for file in default_storage.listdir(folder)[1]]
