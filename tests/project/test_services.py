"""The tests use services of their own and ignore those of an arena in this folder."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

pytestmark = pytest.mark.processes

FILE_THAT_EMPTIES_VALKEY = "tests/project/test_env_example.py"


def test_tests_ignore_arena_running_in_this_folder(tmp_path: Path):
    theirs = {"DATABASE_URL": "postgres://arena@127.0.0.1:9/theirs", "REDIS_URL": "redis://127.0.0.1:9/0"}
    (tmp_path / "services.json").write_text(json.dumps(theirs))
    (tmp_path / "env").write_text("ARENA_DATABASE_POOL=no number\n")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", "1", FILE_THAT_EMPTIES_VALKEY],
        cwd=settings.BASE_DIR, env={
            "PATH": os.environ["PATH"], "ARENA_DATA_DIR": str(tmp_path), "ARENA_ENV_FILE": str(tmp_path / "env"),
        },
        capture_output=True, text=True,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout


def test_tests_have_a_data_directory_of_their_own():
    assert not Path(settings.MEDIA_ROOT).is_relative_to(settings.BASE_DIR)
    assert not Path(settings.STATIC_ROOT).is_relative_to(settings.BASE_DIR)
