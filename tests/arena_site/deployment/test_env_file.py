import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

pytestmark = pytest.mark.processes

PORT = "from arena_site.supervisor.site import Site; print(Site.from_environment().port)"

FILE_BYTES = "import django; django.setup(); from uploads.actions import MAX_BYTES; print(MAX_BYTES)"


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], cwd=settings.BASE_DIR, env=environment,
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "arena.env"
    file.write_text("ARENA_PORT=8123\n")
    return file


def test_environment_overrides_named_env_file(file: Path):
    assert run("-c", PORT, ARENA_ENV_FILE=str(file)).stdout == "8123\n"
    assert run("-c", PORT, ARENA_ENV_FILE=str(file), ARENA_PORT="8124").stdout == "8124\n"


def test_missing_named_env_file_is_an_error(tmp_path: Path):
    stopped = run("-m", "arena_site.supervisor", "stop", ARENA_ENV_FILE=str(tmp_path / "arena.env"))
    assert stopped.returncode == 1
    assert "ARENA_ENV_FILE names a file that is not there" in stopped.stderr


@pytest.mark.parametrize(("megabytes", "output"), [("60", "60000000\n"), ("0", ""), ("201", "")])
def test_size_of_a_file_is_a_setting_within_bounds(megabytes: str, output: str):
    own = {"DJANGO_SETTINGS_MODULE": "arena_site.settings.test", "ARENA_MAX_FILE_MB": megabytes}
    done = run("-W", "ignore", "-c", FILE_BYTES, **own)
    assert done.stdout == output
    assert ("ARENA_MAX_FILE_MB must be between 1 and 200" in done.stderr) is (output == "")
