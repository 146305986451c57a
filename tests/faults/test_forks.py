"""Programs that are forked from the launcher end, stop and log like programs of their own."""

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from arena_site.embedded.program import Program
from arena_site.supervisor import leftovers
from arena_site.supervisor.child import Child
from arena_site.supervisor.forking import SIGNALS, preload
from arena_site.supervisor.launcher import Launcher
from arena_site.supervisor.site import Site
from tests.waiting import wait_for

pytestmark = pytest.mark.faults
Start = Callable[[str], Child]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Return a function that runs a script in a fork; forks that still run are killed at the end."""
    children: list[Child] = []

    def start(script: str) -> Child:
        path = tmp_path / "script.py"
        path.write_text(script)
        program = Program(
            "script", "Script", ["python", str(path), "--word"], tmp_path, is_ready=lambda: True, is_forked=True
        )
        children.append(Child(program, tmp_path))
        return children[-1]

    yield start
    for child in children:
        child.stop(within=0)


def test_exit_status_and_output_of_fork_are_kept(start: Start):
    child = start("import os, sys\nos.write(1, sys.argv[1].encode())\nos.write(2, os.getcwd().encode())\nsys.exit(3)")
    wait_for(lambda: not child.is_running)
    assert child.process.returncode == 3
    assert child.log.read_text() == f"--word{child.log.parent}"


def test_fork_has_its_command_as_name_and_a_session_of_its_own(start: Start):
    child = start("import time\ntime.sleep(600)")
    process = Path(f"/proc/{child.process.pid}")
    wait_for(lambda: b"--word" in (process / "cmdline").read_bytes())
    assert (process / "cmdline").read_text().startswith("python ")
    session = int((process / "stat").read_text().rsplit(")", 1)[1].split()[3])
    assert session == child.process.pid


def test_stop_signal_ends_fork_at_once(start: Start):
    child = start("import time\ntime.sleep(600)")
    child.stop(within=60)
    assert child.process.returncode == -child.program.stop_signal


def test_deaf_fork_is_killed(start: Start):
    child = start("import os, signal, time\nsignal.signal(15, signal.SIG_IGN)\nos.write(1, b'deaf')\ntime.sleep(600)")
    wait_for(lambda: child.log.read_text() == "deaf")
    child.stop(within=0.1)
    assert child.process.returncode == -9


def test_fork_does_not_keep_the_lock_of_its_launcher(start: Start, tmp_path: Path):
    lock = leftovers.acquire_lock(tmp_path)
    child = start("import os, time\nos.write(1, b'runs')\ntime.sleep(600)")
    wait_for(lambda: child.log.read_text() == "runs")
    lock.close()
    leftovers.acquire_lock(tmp_path).close()


@pytest.fixture
def _restored_signals() -> Iterator[None]:
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    wakeup_fd = signal.set_wakeup_fd(-1)
    yield
    signal.set_wakeup_fd(wakeup_fd)
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("_restored_signals")
def test_end_of_fork_wakes_its_launcher(start: Start):
    launcher = Launcher(Site.from_environment())
    launcher.handle_signals()
    child = start("")
    while child.is_running:
        launcher.pause(3600)


def test_faulty_setting_is_left_to_the_first_program(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("django.setup", lambda: 1 / 0)
    preload()
