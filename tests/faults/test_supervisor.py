"""`make up` runs once per data directory, restarts programs, and leaves no processes."""

import signal
from pathlib import Path

import psycopg
import pytest

from arena_site.supervisor.leftovers import Process, wait_for_end
from tests.waiting import wait_for
from tests.worlds.arena import POSTGRES, SWEEPER, UP, VALKEY, WEB, Arena

pytestmark = pytest.mark.faults


def test_second_start_is_refused_and_sigterm_leaves_nothing(arena: Arena, tmp_path: Path):
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
    assert arena.launcher.wait(300) == 0
    assert arena.output_text.endswith("Arena stopped.\n")
    assert wait_for_end(processes, within=0)
    assert arena.run(*UP, "stop").stdout == "Nothing was running.\n"


def children(arena: Arena, program: str) -> set[int]:
    return {process.pid for command, process in arena.processes().items() if f"{program} " in command}


def test_killed_programs_come_back(arena: Arena):
    for program in (POSTGRES, VALKEY, WEB, SWEEPER):
        before = children(arena, program)
        killed = arena.signal(program)

        def has_come_back(program: str = program, before: set[int] = before, killed: int = killed) -> bool:
            now = children(arena, program)
            return killed not in now and len(now) == len(before) and arena.is_ready()

        wait_for(has_come_back)


def test_killed_launcher_loses_no_data_and_next_start_cleans_up(arena: Arena):
    secrets_before = {name: arena.services[name] for name in ("SECRET_KEY", "ARENA_ENCRYPTION_KEYS")}
    with psycopg.connect(arena.services["DATABASE_URL"]) as connection:
        connection.execute("INSERT INTO accounts_visitor (key) VALUES ('was here')")
    left_behind = kill_launcher(arena)

    arena.start()
    assert "that an earlier start had left behind" in arena.output_text
    assert wait_for_end(left_behind, within=0)
    with psycopg.connect(arena.services["DATABASE_URL"]) as connection:
        visitors = connection.execute("DELETE FROM accounts_visitor WHERE key = 'was here' RETURNING key")
        assert visitors.fetchall() == [("was here",)]
    assert {name: arena.services[name] for name in secrets_before} == secrets_before

    left_behind = kill_launcher(arena)
    assert arena.run(*UP, "stop").stdout == "Arena stopped.\n"
    assert wait_for_end(left_behind, within=0)


def kill_launcher(arena: Arena) -> list[Process]:
    """Kill the launcher and return the processes that keep running."""
    left_behind = list(arena.processes().values())
    arena.launcher.kill()
    arena.launcher.wait()
    assert any(process.is_running for process in left_behind)  # a database session may end by itself
    return left_behind
