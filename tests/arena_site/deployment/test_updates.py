"""During an update the released code serves while the database is migrated, and on the new schema.

released_migrations.json has the newest migration of each app in the last release; only `make release` writes it, and
a backup of each release. The commit that last changed it is the release.
"""

import io
import itertools
import json
import os
import re
import subprocess
import sys
import tarfile
import threading
import time
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import httpx2
import psycopg
import pytest
from django.conf import settings

import leaderboard.sql
from arena_site.version import VERSION
from tests.arena_site.databases import database_without_tables
from tests.fake_provider import FakeProvider
from tests.faults.battling import answered_battle, vote
from tests.site import Reader
from tests.waiting import wait_for
from tests.worlds.arena import MODELS, PLENTY, free_port
from tools import release

pytestmark = [pytest.mark.faults, pytest.mark.django_db(transaction=True)]

RELEASED = json.loads((settings.BASE_DIR / release.FILE).read_text())
BACKUPS = sorted((settings.BASE_DIR / release.BACKUPS).glob("*.zip"))
CHANGELOG = (settings.BASE_DIR / "CHANGELOG.md").read_text()
IMPORT_MODELS = """
import django
django.setup()
from django.core.management import call_command
from models_registry.health.reachability import probe_keyless_providers
call_command("migrate", verbosity=0)
call_command("import_models")
probe_keyless_providers()
"""
# What a later migration may do: tested also while there is none.
EXPANSION = [
    'ALTER TABLE battles_vote ADD COLUMN "later" integer',
    'CREATE INDEX CONCURRENTLY later_votes ON battles_vote ("later")',
    leaderboard.sql.read_sql("elo.sql"),
]
WEB = ["-m", "arena_site.embedded.web", "--bind", "127.0.0.1", "--port"]
WORKER = ["-m", "celery", "-A", "arena_site", "worker", "-P", "threads", "-Q", "answers", "-c", "20"]


@dataclass(frozen=True)
class Column:
    type: str
    is_nullable: bool
    has_default: bool


Schema = dict[tuple[str, str], Column]


def schema_of(database: str) -> Schema:
    """Return columns by (table, column)."""
    with psycopg.connect(database) as connection:
        rows = connection.execute(
            "SELECT attrelid::regclass::text, attname, format_type(atttypid, atttypmod), NOT attnotnull,"
            " atthasdef OR attidentity <> '' FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid"
            " WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND attnum > 0 AND NOT attisdropped"
        ).fetchall()
    return {(table, column): Column(*facts) for table, column, *facts in rows}


def is_longer(text: str, *, than: str) -> bool:
    """Return whether both are `character varying(n)`, and the first holds more characters."""
    now, old = (re.fullmatch(r"character varying\((\d+)\)", kind) for kind in (text, than))
    return bool(now and old and int(now[1]) > int(old[1]))


def unserved(before: Schema, after: Schema) -> list[str]:
    """Return a sentence for each change that code written for `before` cannot use."""
    sentences = []
    for (table, name), column in before.items():
        now = after.get((table, name))
        if now is None:
            sentences.append(f"{table}.{name} is gone")
        elif now.type != column.type and not is_longer(now.type, than=column.type):
            sentences.append(f"{table}.{name} was {column.type} and is {now.type}")
        elif column.is_nullable and not now.is_nullable:
            sentences.append(f"{table}.{name} takes no NULL any more")
        elif column.has_default and not (now.has_default or now.is_nullable):
            sentences.append(f"{table}.{name} has no default any more")
    for (table, name), column in after.items():
        is_new = (table, name) not in before and any(table == known for known, _ in before)
        if is_new and not (column.is_nullable or column.has_default):
            sentences.append(f"{table}.{name} is new and has neither a default nor NULL")
    return sentences


@dataclass
class OldArena:
    """Processes of an arena; code: the folder of their version."""

    database: str
    environment: dict[str, str]
    code: Path = settings.BASE_DIR
    statuses: list[int] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.environment['ARENA_PORT']}"

    def python(self, *arguments: str) -> None:
        command = [sys.executable, "-W", "ignore", *arguments]
        subprocess.run(command, cwd=self.code, env=self.environment, check=True)

    @contextmanager
    def running(self, *arguments: str) -> Iterator[None]:
        command = [sys.executable, *arguments]
        process = subprocess.Popen(command, cwd=self.code, env=self.environment)
        try:
            yield
        finally:
            process.terminate()
            process.wait(300)

    def is_up(self) -> bool:
        try:
            return httpx2.get(f"{self.url}/livez", timeout=20).status_code == 200
        except httpx2.TransportError:
            return False

    def reader(self) -> Reader:
        """Return a client that records the status of each response."""
        reader = Reader(self.url)
        reader.client.event_hooks["response"].append(lambda response: self.statuses.append(response.status_code))
        return reader

    def stored(self) -> int:
        with psycopg.connect(self.database) as connection:
            return connection.execute('SELECT count("order") FROM battles_vote').fetchone()[0]


def released_code(folder: Path) -> Path:
    """Write the code of the last release into `folder`, or skip: a copy without history has none."""
    git = ["git", "-C", str(settings.BASE_DIR)]
    found = subprocess.run([*git, "log", "-1", "--format=%H", "--", release.FILE], capture_output=True, text=True)
    if not found.stdout:
        pytest.skip("the release is not in the history of this copy")
    archive = subprocess.run([*git, "archive", found.stdout.strip()], capture_output=True, check=True)
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        files.extractall(folder, filter="data")
    return folder


@pytest.fixture
def old_arena(tmp_path: Path, fake_provider: FakeProvider) -> Iterator[OldArena]:
    models = tmp_path / "models.yaml"
    models.write_text(MODELS.format(fake_provider.base_url))
    with database_without_tables() as database, ExitStack() as stack:
        environment = PLENTY | {
            "PATH": os.environ["PATH"],
            "ARENA_ENV_FILE": os.devnull,
            "DJANGO_SETTINGS_MODULE": "tests.arena_settings",
            "DATABASE_URL": database,
            "REDIS_URL": f"{os.environ['REDIS_URL']}?db=3",
            "ARENA_DATA_DIR": str(tmp_path),
            "ARENA_MODELS_FILE": str(models),
            "ARENA_ALLOW_PRIVATE_PROVIDERS": "true",
            "ARENA_PORT": str(free_port()),
        }
        arena = OldArena(database, environment, released_code(tmp_path / "released"))
        arena.python("-c", IMPORT_MODELS)
        stack.enter_context(arena.running(*WORKER))
        stack.enter_context(arena.running(*WEB, environment["ARENA_PORT"]))
        wait_for(arena.is_up)
        yield arena


def battle_and_vote(reader: Reader, *, through_page: bool) -> None:
    battle = answered_battle(reader)
    if through_page:
        response = reader.post(f"/battles/{battle['id']}/vote/", data={"choice": "left"})
        assert response.status_code == 302, response.text
    else:
        response = vote(reader, battle, "tie", **{"Idempotency-Key": battle["id"]})
        assert response.status_code == 201, response.text


def test_released_code_answers_while_migrating_and_afterwards(old_arena: OldArena):
    before, migrated = schema_of(old_arena.database), threading.Event()

    def person(number: int) -> int:
        """Battle and vote until one battle after the migration; return the number of votes."""
        reader = old_arena.reader()
        for times in itertools.count(1):
            was_migrated = migrated.is_set()
            battle_and_vote(reader, through_page=(number + times) % 2 == 0)
            if was_migrated:
                return times
            # The migration gets processor time, and a network's limit of battles is not reached.
            time.sleep(min(0.1 * times, 2))
        raise AssertionError

    with ThreadPoolExecutor(3) as people:
        casting = [people.submit(person, number) for number in range(3)]
        try:
            wait_for(lambda: old_arena.stored() >= 6 or any(each.done() for each in casting))
            replace(old_arena, code=settings.BASE_DIR).python("manage.py", "migrate", "--verbosity", "0")
            with psycopg.connect(old_arena.database, autocommit=True) as connection:
                for statement in EXPANSION:
                    connection.execute(statement)
        finally:
            migrated.set()
        acknowledged = sum(each.result() for each in casting)
    assert [status for status in old_arena.statuses if status >= 500] == []
    assert old_arena.stored() == acknowledged
    assert unserved(before, schema_of(old_arena.database)) == []


@pytest.mark.parametrize("backup", BACKUPS, ids=lambda file: file.stem)
def test_backup_of_each_release_is_loaded_and_recomputed(backup: Path, tmp_path: Path):
    with database_without_tables() as database:
        environment = {
            "PATH": os.environ["PATH"],
            "ARENA_ENV_FILE": os.devnull,
            "DJANGO_SETTINGS_MODULE": "arena_site.settings.test",
            "DATABASE_URL": database,
            "REDIS_URL": f"{os.environ['REDIS_URL']}?db=3",
            "ARENA_DATA_DIR": str(tmp_path),
        }
        arena = OldArena(database, environment)
        arena.python("manage.py", "restore", str(backup))
        arena.python("manage.py", "migrate", "--check")
        with psycopg.connect(database) as connection:
            query = "SELECT public_id FROM leaderboard_aggregationrun WHERE state = 'done' ORDER BY id DESC LIMIT 1"
            (snapshot,) = connection.execute(query).fetchone()
        arena.python("manage.py", "recompute_snapshot", "--", snapshot)
        arena.python("manage.py", "aggregate_votes")
        assert arena.stored() > 0


def test_each_dated_version_has_a_backup():
    assert sorted(file.stem for file in BACKUPS) == sorted(release.DATED.findall(CHANGELOG))


def test_released_migrations_are_of_newest_dated_version():
    assert RELEASED["version"] == release.newest_release(CHANGELOG)
    assert (RELEASED["version"] is None) is (RELEASED["migrations"] == {})


def test_version_is_that_of_changelog_and_package():
    assert re.findall(r"^## (\S+), (?:unreleased|\d{4}-\d\d-\d\d)$", CHANGELOG, re.MULTILINE)[0] == VERSION
    assert tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text())["project"]["version"] == VERSION


@pytest.mark.parametrize(
    ("changelog", "version"),
    [
        ("# Changes\n\n## 0.1.0, unreleased\n", None),
        ("# Changes\n\n## 0.2.0, unreleased\n\n## 0.1.0, 2026-12-01\n", "0.1.0"),
        ("# Changes\n\n## 0.2.0, 2027-01-01\n\n## 0.1.0, 2026-12-01\n", "0.2.0"),
    ],
)
def test_newest_release_is_the_first_dated_section(changelog: str, version: str | None):
    assert release.newest_release(changelog) == version


def test_release_writes_existing_newest_migrations():
    migrations = release.newest_migrations()
    assert {"accounts", "battles", "benchmarks", "gateway", "uploads"} <= set(migrations)
    assert not {"auth", "account", "sessions"} & set(migrations)
    folders = [settings.BASE_DIR / app / "migrations" for app in migrations]
    assert [max(path.stem for path in folder.glob("0*.py")) for folder in folders] == list(migrations.values())


COLUMN = Column("integer", is_nullable=False, has_default=False)


@pytest.mark.parametrize(
    ("after", "complaint"),
    [
        ({}, "votes.n is gone"),
        ({("votes", "n"): replace(COLUMN, type="text")}, "votes.n was integer and is text"),
        ({("votes", "n"): COLUMN, ("votes", "m"): COLUMN}, "votes.m is new and has neither a default nor NULL"),
    ],
)
def test_schema_that_old_code_cannot_use_is_found(after: Schema, complaint: str):
    assert unserved({("votes", "n"): COLUMN}, after) == [complaint]


@pytest.mark.parametrize("optional", [{"is_nullable": True}, {"has_default": True}])
def test_schema_that_only_grew_serves_old_code(optional: dict[str, bool]):
    before = {("votes", "n"): COLUMN}
    after = before | {("votes", "m"): replace(COLUMN, **optional), ("stars", "n"): COLUMN}
    assert unserved(before, after) == []
    assert unserved(after, before) == ["votes.m is gone", "stars.n is gone"]
