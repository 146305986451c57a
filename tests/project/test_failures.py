import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

pytestmark = pytest.mark.processes

INI = """
[pytest]
addopts = -p tests.failures -p xdist -p randomly -m 'not long'
markers = long
"""
FAILS_ONCE = """
from pathlib import Path
import pytest

@pytest.mark.long
def test_fails_once():
    has_run = Path("has_run")
    assert has_run.exists() or has_run.touch(), "the machine was busy"
"""
FAILS_AFTER_ANOTHER = """
seen = []

def test_first():
    seen.append(1)

def test_second():
    seen.append(2)

def test_third():
    assert not seen
"""
SKIPPED_LATER = """
from pathlib import Path
import pytest

def test_skipped_later():
    if Path("has_failed").exists():
        pytest.skip("no second time")
    Path("has_failed").touch()
    raise ValueError("once")
"""
NEW_ID = """
import os
import pytest

@pytest.mark.parametrize("process", [os.getpid()])
def test_new_id(process):
    raise ValueError("always")
"""
FAILS = """
def test_fails():
    raise ValueError("always")
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pytest.ini").write_text(INI)
    return tmp_path


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    # Each of the many processes would import all installed plugins, for half a second.
    environment = {**os.environ, "PYTHONPATH": str(settings.BASE_DIR), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    for name in ("DJANGO_SETTINGS_MODULE", "PYTEST_XDIST_WORKER", "PYTEST_ADDOPTS"):
        environment.pop(name, None)
    command = [sys.executable, "-m", "pytest", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_test_that_passes_alone_is_reported_as_flaky(project):
    (project / "test_one.py").write_text(FAILS_ONCE)
    (project / "test_two.py").write_text(FAILS_AFTER_ANOTHER)
    done = run(project, "-n", "2", "--dist", "loadfile", "--rerun-failed", "-p", "no:randomly", "-m", "")
    assert done.returncode == 0, done.stdout
    assert dict(re.findall(r"^FLAKY (\S+) - (.*)$", done.stdout, re.MULTILINE)) == {
        "test_one.py::test_fails_once": "AssertionError: the machine was busy",
        "test_two.py::test_third": "assert not [1, 2]",
    }
    assert "2 passed, 2 flaky" in done.stdout


def test_test_that_fails_twice_fails_the_run(project):
    (project / "test_one.py").write_text(FAILS_ONCE)
    (project / "test_two.py").write_text(FAILS)
    done = run(project, "--rerun-failed", "-m", "")
    assert done.returncode == 1
    assert "FAILED test_two.py::test_fails - ValueError: always" in done.stdout
    assert "FLAKY test_one.py::test_fails_once" in done.stdout
    assert "1 failed, 1 flaky" in done.stdout


@pytest.mark.parametrize("tests", [SKIPPED_LATER, NEW_ID])
def test_test_that_does_not_pass_in_the_rerun_fails_the_run(project, tests: str):
    (project / "test_one.py").write_text(tests)
    done = run(project, "--rerun-failed")
    assert done.returncode == 1
    assert "FLAKY" not in done.stdout


def test_failing_run_prints_commands_that_repeat_it(project):
    for number in range(4):
        (project / f"test_{number}.py").write_text(FAILS_AFTER_ANOTHER + FAILS)
    first = run(project, "-n", "2", "--dist", "loadfile", "-v")
    commands = re.findall(r"^  (\S+ -m pytest .*)$", first.stdout, re.MULTILINE)
    assert len(commands) == 2
    for worker, command in enumerate(commands):
        ran = re.findall(rf"^\[gw{worker}\].* (PASSED|FAILED) (\S+)", first.stdout, re.MULTILINE)
        last_failure = max(index for index, (outcome, _) in enumerate(ran) if outcome == "FAILED")
        again = run(project, *shlex.split(command)[3:], "-vv")
        assert re.findall(r"^(\S+) (PASSED|FAILED)", again.stdout, re.MULTILINE) == [
            (test, outcome) for outcome, test in ran[: last_failure + 1]
        ]
