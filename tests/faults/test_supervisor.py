"""`make up`: one command, one start at a time, nothing left behind, nothing lost."""

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import psycopg
import pytest

from arena_site.supervisor.leftovers import Process, wait_for_end
from tests.faults.running import UP, Arena
from tests.waiting import wait_for

pytestmark = pytest.mark.faults


@pytest.fixture(scope="module")
def data_dir() -> Iterator[Path]:
    """One for all: the first start is the long one."""
    directory = Path(tempfile.mkdtemp(prefix="arena-fault-", dir="/tmp"))
    directory.chmod(0o711)  # PostgreSQL of a root user runs as nobody
    yield directory / "data"
    shutil.rmtree(directory)


@pytest.fixture
def arena(data_dir: Path) -> Iterator[Arena]:
    arena = Arena(data_dir).start()
    yield arena
    arena.stop()


def test_one_start_at_a_time_and_sigterm_leaves_nothing(arena: Arena, tmp_path: Path):
    assert "Fewer than two models can be drawn" in arena.said
    same_data = Arena(arena.data_dir).run(*UP)
    assert (same_data.returncode, same_data.stdout) == (1, "")
    assert f"already running on {arena.data_dir} (process {arena.launcher.pid})" in same_data.stderr
    assert same_data.stderr.count("\n") == 1

    same_port = Arena(tmp_path / "data", port=arena.port).run(*UP)
    assert (same_port.returncode, same_port.stdout) == (1, "")
    assert f"Port {arena.port} on 127.0.0.1 cannot be used" in same_port.stderr
    assert "ARENA_PORT" in same_port.stderr
    assert not (tmp_path / "data" / "postgres-18").exists()

    processes = list(arena.processes().values())
    arena.launcher.send_signal(signal.SIGTERM)
    assert arena.launcher.wait(60) == 0
    assert arena.said.endswith("Arena stopped.\n")
    assert wait_for_end(processes, within=0)
    assert arena.run(*UP, "stop").stdout == "Nothing was running.\n"


def came_back(arena: Arena, program: str, killed: int) -> bool:
    return arena.pid_of(program) not in (None, killed) and arena.is_ready()


def test_killed_programs_come_back(arena: Arena):
    for program in ("bin/postgres", "valkey-server", "arena_site.embedded.web", "manage.py sweep"):
        killed = arena.pid_of(program)
        os.kill(killed, signal.SIGKILL)
        wait_for(partial(came_back, arena, program, killed), within=60)


def test_a_killed_launcher_loses_nothing_and_leaves_nothing_for_long(arena: Arena):
    secrets_before = {name: arena.services[name] for name in ("SECRET_KEY", "ARENA_ENCRYPTION_KEYS")}
    with psycopg.connect(arena.services["DATABASE_URL"]) as connection:
        connection.execute("INSERT INTO accounts_visitor (key) VALUES ('was here')")
    left_behind = kill_launcher(arena)

    arena.start()
    assert "that an earlier start had left behind" in arena.said
    assert wait_for_end(left_behind, within=0)
    with psycopg.connect(arena.services["DATABASE_URL"]) as connection:
        visitors = connection.execute("DELETE FROM accounts_visitor WHERE key = 'was here' RETURNING key")
        assert visitors.fetchall() == [("was here",)]
    assert {name: arena.services[name] for name in secrets_before} == secrets_before

    left_behind = kill_launcher(arena)
    assert arena.run(*UP, "stop").stdout == "Arena stopped.\n"
    assert wait_for_end(left_behind, within=0)


def kill_launcher(arena: Arena) -> list[Process]:
    """What goes on running without it."""
    left_behind = list(arena.processes().values())
    arena.launcher.kill()
    arena.launcher.wait()
    assert any(process.is_running for process in left_behind)  # a database session may end by itself
    return left_behind
