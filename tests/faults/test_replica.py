"""A streaming standby, the real one, read by boards, exports and metrics."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from arena_site.embedded.postgres import Postgres, _make_owned, _run_as_prefix, binary
from arena_site.supervisor.child import Child
from tests.fake_provider import FakeProvider
from tests.faults.battling import answered_battle, vote
from tests.site import Reader
from tests.waiting import wait_for
from tests.worlds.arena import MODELS, PLENTY, Arena, _children_of, copy_prepared_data, new_data_dir

pytestmark = pytest.mark.faults
TRUST = "local all all trust\nlocal replication all trust\n"


class Standby:
    """Replays the log of the arena's own PostgreSQL, in folders beside its data."""

    def __init__(self, data_dir: Path) -> None:
        self._data, self._sockets = data_dir.with_name("standby"), data_dir.with_name("sockets")
        self.url = f"postgres://arena@/arena?host={self._sockets}"

    def copy(self, primary: str) -> None:
        """Copy the running primary, as an operator does."""
        _make_owned(self._data)
        sockets = Path(conninfo_to_dict(primary)["host"])
        program = binary("pg_basebackup")
        done = subprocess.run(
            [
                *_run_as_prefix(program, [self._data, sockets]), program, "--pgdata", self._data,
                "--dbname", f"host={sockets} user=postgres", "--write-recovery-conf", "--checkpoint=fast",
            ],
            capture_output=True, text=True, cwd="/",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr

    def start(self) -> None:
        server = Postgres(self._data, self._sockets, "", durable=False).server()
        self._child = Child(replace(server, is_ready=self._answers), self._data.parent)
        self._child.wait_until_ready(within=120)

    def stop(self) -> None:
        self._child.stop(within=20)

    @contextmanager
    def hung(self) -> Iterator[None]:
        postmaster = self._child.process.pid
        processes = [postmaster, *_children_of(postmaster)]
        for pid in processes:
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in reversed(processes):
                os.kill(pid, signal.SIGCONT)

    def _answers(self) -> bool:
        try:
            return self.query("SELECT pg_is_in_recovery()") == [(True,)]
        except psycopg.OperationalError:
            return False

    def query(self, sql: str) -> list[tuple[object, ...]]:
        with psycopg.connect(f"host={self._sockets} user=postgres dbname=arena", autocommit=True) as connection:
            return connection.execute(sql).fetchall()


@pytest.fixture(scope="module")
def arena(steady_provider: FakeProvider) -> Iterator[Arena]:
    """An arena with one web process, whose replica does not run yet."""
    with new_data_dir() as data_dir:
        models = data_dir.with_name("models.yaml")
        models.write_text(MODELS.format(steady_provider.base_url))
        copy_prepared_data(data_dir)
        rules = data_dir / "postgres-18" / "pg_hba.conf"
        rules.write_text(TRUST + rules.read_text())
        arena = Arena(data_dir)
        arena.environment |= PLENTY | {
            "ARENA_MODELS_FILE": str(models), "ARENA_WEB_PROCESSES": "1", "ARENA_AGGREGATE_EVERY_S": "5",
            "ARENA_PUBLISH_VOTES": "true", "ARENA_RATE_LIMITS": "false",
            "DATABASE_REPLICA_URL": Standby(data_dir).url,
        }  # fmt: skip
        try:
            yield arena.start()
        finally:
            arena.stop()


@pytest.fixture(scope="module")
def _standby(arena: Arena) -> Iterator[Standby]:
    standby = Standby(arena.data_dir)
    standby.copy(arena.services["DATABASE_URL"])
    standby.start()
    try:
        yield standby
    finally:
        standby.stop()


@pytest.fixture
def standby(_standby: Standby, arena: Arena) -> Standby:
    """The arena reads it."""
    wait_for(lambda: replica_state(Reader(arena.url)) == "ok")
    return _standby


def replica_state(reader: Reader) -> str:
    return reader.get("/readyz").json()["replica"]


def failed_reads(arena: Arena) -> int:
    log = "".join(file.read_text() for file in (arena.data_dir / "logs").glob("*.log"))
    return log.count("the primary is read: the replica failed a read")


def exported(reader: Reader) -> int:
    response = reader.api("GET", "exports/votes.jsonl")
    assert response.status_code == 200
    return len(response.text.splitlines())


def votes_on_board(reader: Reader) -> int:
    board = reader.api("GET", "leaderboard/")
    assert board.status_code == 200
    return board.json()["live"]["last_vote"]


def metric(reader: Reader, name: str) -> float:
    lines = reader.get("/metrics").text.splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(f"{name} "))


def voted(reader: Reader) -> str | None:
    """Cast a vote and return the choice as its own page shows it at once."""
    battle = answered_battle(reader)
    assert vote(reader, battle).status_code == 201
    return reader.api("GET", f"battles/{battle['id']}/").json()["vote"]["choice"]


def test_boards_read_the_replica_and_votes_the_primary(arena: Arena, standby: Standby):
    reader = Reader(arena.url)
    assert voted(reader) == "left"
    [(votes,)] = arena.query("SELECT count(*) FROM battles_vote")
    wait_for(lambda: exported(reader) == votes_on_board(reader) == votes)

    standby.query("SELECT pg_wal_replay_pause()")
    wait_for(lambda: standby.query("SELECT pg_get_wal_replay_pause_state()") == [("paused",)])
    assert voted(reader) == "left"
    assert arena.query("SELECT count(*) FROM battles_vote") == [(votes + 1,)]
    wait_for(lambda: metric(reader, "arena_replica_lag_seconds") > 0)
    assert (exported(reader), votes_on_board(reader), metric(reader, "arena_votes_ever")) == (votes, votes, votes)
    assert metric(reader, "arena_replica_up") == 1

    standby.query("SELECT pg_wal_replay_resume()")
    wait_for(lambda: exported(reader) == votes_on_board(reader) == votes + 1)


def test_requests_that_a_hung_replica_holds_are_answered(arena: Arena, standby: Standby):
    reader = Reader(arena.url)
    votes = exported(reader)
    with standby.hung():
        assert exported(reader) == votes
        wait_for(lambda: replica_state(reader) != "ok")
        assert exported(reader) == votes
    wait_for(lambda: replica_state(reader) == "ok")


def test_killed_replica_is_replaced_within_the_request(arena: Arena, standby: Standby):
    reader, votes = Reader(arena.url), exported(Reader(arena.url))
    standby.query("SELECT pg_wal_replay_pause()")
    assert voted(reader) == "left"
    assert exported(reader) == votes
    failed_before = failed_reads(arena)

    standby.stop()
    try:
        assert exported(reader) == votes + 1
        assert replica_state(reader) != "ok"
        wait_for(lambda: votes_on_board(reader) == votes + 1)
        # The export's, and that of a board if both read at that moment; after that the primary is read.
        assert failed_reads(arena) - failed_before in (1, 2)
    finally:
        standby.start()
    wait_for(lambda: replica_state(reader) == "ok")
