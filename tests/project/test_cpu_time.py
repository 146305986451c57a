import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from tests.cpu_time import PYTHON, Cost, CostOfTest, Results, cpu_time_s, summary_lines

INI = """
[pytest]
addopts = -p tests.cpu_time -p xdist
markers =
    browser
    faults
"""
TESTS = """
import subprocess
import sys
import time
import pytest

class Arena:
    pass

@pytest.fixture(scope="module")
def arena():
    compute_for(0.3)
    return Arena()

def compute_for(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass

def test_computes():
    compute_for(0.2)

@pytest.mark.browser
def test_starts_an_arena(arena):
    compute_for(0.1)

@pytest.mark.faults
def test_leaves_a_process_running():
    code = "import time; [0 for _ in iter(lambda: time.process_time() < 0.4, False)]; print(flush=True); input()"
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdout.readline()
"""
LINE = r"^(.{22}) +(\d*) +([\d.]+) +([\d.]+)$"


@pytest.mark.processes
@pytest.mark.parametrize("workers", ["0", "2"])
def test_run_prints_cpu_time_of_each_kind_of_test(tmp_path: Path, workers: str):
    (tmp_path / "pytest.ini").write_text(INI)
    (tmp_path / "test_kinds.py").write_text(TESTS)
    environment = {**os.environ, "PYTHONPATH": str(settings.BASE_DIR), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    for name in ("DJANGO_SETTINGS_MODULE", "PYTEST_XDIST_WORKER", "PYTEST_ADDOPTS"):
        environment.pop(name, None)
    command = [sys.executable, "-m", "pytest", "-n", workers, "--dist", "loadfile", "--cpu-time"]
    output = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True).stdout
    lines = {name.strip(): numbers for name, *numbers in re.findall(LINE, output, re.MULTILINE)}
    cpu_s = {name: float(seconds) for name, (_, seconds, _) in lines.items()}
    assert {name: number for name, (number, *_) in lines.items()} == {
        "Python": "1", "browser": "1", "faults": "1", "start of arenas": "1", "collection, services": "",
        "whole run": "3",
    }, output  # fmt: skip
    at_least = {"Python": 0.2, "browser": 0.1, "faults": 0.4, "start of arenas": 0.3, "whole run": 1.0}
    assert {name: seconds for name, seconds in at_least.items() if cpu_s[name] < seconds} == {}, output
    assert re.search(r"^ +0\.[2-9] .* Python +test_kinds.py::test_computes$", output, re.MULTILINE), output


def test_summary_adds_up_workers_and_names_slowest_tests():
    tests = [CostOfTest(f"test_{number}", PYTHON, 0.5, number) for number in range(30)]
    results = [
        Results({PYTHON: Cost(30, 20.0, 40.0)}, tests, [0.04, 0.06]),
        Results({"browser": Cost(1, 70.0, 90.0)}, [CostOfTest("test_page", "browser", 70.0, 90.0)], [0.05]),
    ]
    lines = summary_lines(results, cpu_s=100.0, clock_s=60.0)
    assert [line.split() for line in lines[1:6]] == [
        ["browser", "1", "70.0", "90.0"],
        ["Python", "30", "20.0", "40.0"],
        ["collection,", "services", "10.0", "0.0"],
        ["whole", "run", "31", "100.0", "60.0"],
        ["2,000", "yardsticks", "of", "50.0", "ms"],
    ]
    slowest = [line.split()[-1] for line in lines[8:]]
    assert slowest == ["test_page", *(f"test_{number}" for number in range(29, 10, -1))]


def test_cpu_time_counts_ended_children():
    before = cpu_time_s(with_running=False)
    subprocess.run([sys.executable, "-c", "sum(range(10_000_000))"], check=True)
    assert cpu_time_s(with_running=False) - before > 0.05
