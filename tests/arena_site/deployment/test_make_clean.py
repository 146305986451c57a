import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.doc_checks import ROOT

MADE = {".venv", ".mypy_cache", "test-results", "sbom.cdx.json", "battles/__pycache__"}
KEPT = {".env", "config", "battles"}


@pytest.mark.processes
@pytest.mark.parametrize(
    ("answers", "stays"),
    [
        ("", MADE | KEPT | {".arena"}),
        ("n\nno\n", MADE | KEPT | {".arena"}),
        ("y\n", KEPT | {".arena"}),
        ("y\ny\n", KEPT | {".arena"}),
        ("n\ndelete\n", MADE | KEPT),
        ("y\ndelete\n", KEPT),
    ],
)
def test_clean_deletes_after_an_answer_only(answers: str, stays: set[str], tmp_path: Path):
    for name in MADE | KEPT | {".arena", "tools"}:
        (tmp_path / name).mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / "tools/clean.sh", tmp_path / "tools")
    environment = {name: value for name, value in os.environ.items() if name != "ARENA_DATA_DIR"}
    subprocess.run([tmp_path / "tools/clean.sh"], input=answers, text=True, check=True, env=environment)
    assert {name for name in MADE | KEPT | {".arena"} if (tmp_path / name).exists()} == stays
