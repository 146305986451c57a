"""The embedded PostgreSQL starts after interruptions and requires its password."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import psycopg
import pytest

from arena_site.embedded.postgres import Postgres
from arena_site.embedded.program import CannotStart
from arena_site.supervisor.child import Child
from tests.worlds.programs import running

pytestmark = pytest.mark.processes


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory closed to other users, like a clone in a home directory."""
    directory = Path(tempfile.mkdtemp(prefix="arena-test-", dir="/tmp"))
    yield directory
    shutil.rmtree(directory)


def answers(postgres: Postgres, place: Path) -> bool:
    child = Child(postgres.prepare(), place)
    try:
        child.wait_until_ready(within=120)
        with psycopg.connect(postgres.url) as connection:
            return connection.execute("SELECT 1").fetchone() == (1,)
    finally:
        child.stop(within=5)


def test_unfinished_first_start_is_repeated(place: Path):
    postgres = Postgres(place / "postgres-18", place / "sockets", "secret", durable=False)
    unfinished = place / "postgres-18.unfinished"
    unfinished.mkdir()
    (unfinished / "PG_VERSION").write_text("18\n")
    assert answers(postgres, place)
    assert not unfinished.exists()


def test_pid_file_of_reused_process_id_is_removed(place: Path):
    postgres = Postgres(place / "postgres-18", place / "sockets", "secret", durable=False)
    assert answers(postgres, place)
    (postgres.data / "postmaster.pid").write_text(f"{os.getpid()}\n{postgres.data}\n0\n5432\n")
    assert answers(postgres, place)


def test_empty_lock_file_of_a_full_disk_is_removed(place: Path):
    postgres = Postgres(place / "postgres-18", place / "sockets", "secret", durable=False)
    assert answers(postgres, place)
    (postgres.data / "postmaster.pid").touch()
    assert answers(postgres, place)


@pytest.mark.parametrize("other", ["postgres-17", "postgres-19"])
@pytest.mark.parametrize("has_own", [False, True])
def test_cluster_of_another_version_is_refused(place: Path, other: str, has_own: bool):
    (place / other).mkdir()
    if has_own:
        (place / "postgres-18").mkdir()
    (place / "postgres-18.unfinished").mkdir()
    before = sorted(place.iterdir())
    with pytest.raises(
        CannotStart, match=f"{other} is the database of another version than PostgreSQL 18: `make upgrade-database`"
    ):
        Postgres(place / "postgres-18", place / "sockets", "secret", durable=False).prepare()
    assert sorted(place.iterdir()) == before


@pytest.mark.parametrize(("size", "kind"), [(64_000_000, "sysv"), (12_000_000_000, "posix")])
def test_small_shared_memory_of_a_container_is_not_used(place: Path, monkeypatch, size: int, kind: str):
    monkeypatch.setattr("arena_site.embedded.postgres.shutil.disk_usage", lambda path: SimpleNamespace(total=size))
    postgres = Postgres(place / "postgres-18", place / "sockets", "secret", durable=False)
    with running(postgres.prepare(), place), psycopg.connect(postgres.url) as connection:
        assert connection.execute("SHOW dynamic_shared_memory_type").fetchone() == (kind,)


def test_wrong_password_is_refused(place: Path):
    postgres = Postgres(place / "postgres-18", place / "sockets", "secret", durable=False)
    child = Child(postgres.prepare(), place)
    try:
        child.wait_until_ready(within=120)
        for url in (postgres.url.replace("secret", "guess"), postgres.url.replace("arena:secret", "postgres:guess")):
            with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
                psycopg.connect(url)
    finally:
        child.stop(within=5)
