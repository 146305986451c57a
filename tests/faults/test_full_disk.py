"""The launcher survives a full disk and resumes writing by itself when there is room again."""

import json
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from arena_site.embedded.program import CannotStart, Program
from arena_site.supervisor import leftovers
from arena_site.supervisor import process_manager as supervision
from arena_site.supervisor.child import Child
from arena_site.supervisor.leftovers import Process
from arena_site.supervisor.process_manager import ProcessManager, Stage
from arena_site.supervisor.service_file import ServiceFile
from tests.faults.battling import SHORT, answered_battle, complete_texts, texts, vote
from tests.site import Reader
from tests.waiting import wait_for
from tests.worlds.arena import POSTGRES, SWEEPER, Arena

pytestmark = pytest.mark.faults


@contextmanager
def full_disk() -> Iterator[None]:
    """Make every write to a file by this process fail."""
    unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, unlimited[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)


def program(*command: str) -> Program:
    return Program("sleeper", "Sleeper", list(command), cwd=Path("/"), is_ready=lambda: True)


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[ProcessManager]:
    manager = ProcessManager(tmp_path, tmp_path)
    yield manager
    manager.stop()


def running(data_dir: Path) -> list[int]:
    return [process["pid"] for process in json.loads((data_dir / leftovers.RUNNING_FILE).read_text())]


def faults_of_ended_children(pid: int) -> int:
    """Return the minor page faults of the children that a process has waited for: more after each that ended.

    A PostgreSQL that cannot start lives too short to be seen itself.
    """
    _name, _, fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")
    return int(fields.split()[8])  # cminflt in proc(5)


def test_launcher_survives_full_disk_and_site_recovers(arena: Arena, reader: Reader):
    battle = answered_battle(reader)
    with arena.full_disk():
        sweeper = arena.signal(SWEEPER)
        arena.signal(POSTGRES)
        wait_for(lambda: arena.pid_of(SWEEPER) not in (None, sweeper))
        faults = {faults_of_ended_children(arena.launcher.pid)}

        def has_been_started_in_vain() -> bool:
            faults.add(faults_of_ended_children(arena.launcher.pid))
            return len(faults) > 2

        wait_for(has_been_started_in_vain)
        assert arena.launcher.poll() is None
        assert reader.get(f"/s/{battle['session']}/").status_code == 503
    wait_for(arena.is_ready)
    assert vote(reader, battle).status_code == 201
    assert texts(answered_battle(reader)) == complete_texts(SHORT)
    wait_for(lambda: {arena.pid_of(POSTGRES), arena.pid_of(SWEEPER)} <= set(running(arena.data_dir)))


def test_unwritable_state_is_kept_and_retried(manager: ProcessManager, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(supervision, "RECORD_RETRY_INTERVAL_S", 0)
    first = manager.start(program("sleep", "600"), Stage.WEB)
    with full_disk():
        second = manager.start(program("sleep", "600"), Stage.WEB)
        manager.restart_exited()
        assert running(tmp_path) == [first.process.pid]
    manager.restart_exited()
    assert running(tmp_path) == [first.process.pid, second.process.pid]
    assert {path.name for path in tmp_path.iterdir()} == {"running.json", "sleeper.log", "sleeper.log.1"}


def test_child_without_a_log_file_runs(tmp_path: Path):
    child = Child(program("sleep", "600"), tmp_path / "missing")
    try:
        assert child.is_running
        assert "cannot be read" in child.last_lines()
    finally:
        child.stop(within=1)


def test_program_that_cannot_be_started_is_tried_again(manager: ProcessManager, capsys: pytest.CaptureFixture[str]):
    child = manager.start(program("true"), Stage.WEB)
    child.process.wait()
    child.program.command[:] = ["/no/such/program"]
    manager.restart_exited()
    assert "Sleeper cannot be started (No such file or directory)." in capsys.readouterr().out
    child.program.command[:] = ["sleep", "600"]
    wait_for(lambda: manager.restart_exited() or child.is_running)


def test_restarts_are_never_paused_for_long(manager: ProcessManager, capsys: pytest.CaptureFixture[str]):
    child = manager.start(program("false"), Stage.WEB)
    child.process.wait()
    manager._processes[0].exits_in_a_row = 50
    manager.restart_exited()
    assert capsys.readouterr().out == "Sleeper ended with status 1.\n  It is started again in 5 s.\n"


def test_unwritable_secrets_prevent_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os, "environ", {})
    services = ServiceFile(tmp_path)
    with full_disk(), pytest.raises(CannotStart, match=r"services.json cannot be written \(File too large\)"):
        services.make_secrets()
    services = ServiceFile(tmp_path)
    services.make_secrets()
    with full_disk():
        services.publish("DATABASE_URL", "postgres://elsewhere")
    assert "DATABASE_URL" not in json.loads((tmp_path / "services.json").read_text())


def test_lock_on_a_full_disk_names_its_holder(tmp_path: Path):
    leftovers.acquire_lock(tmp_path).close()
    with full_disk():
        lock = leftovers.acquire_lock(tmp_path)
    assert leftovers.running_launcher(tmp_path) == Process.from_pid(int((tmp_path / leftovers.LOCK_FILE).read_text()))
    lock.close()
