"""PgBouncer, the real one, in front of the database: each transaction gets another connection."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from tests.arena_site.databases import database_without_tables
from tests.fake_provider import FakeProvider
from tests.faults.battling import answered_battle, complete_texts, texts
from tests.site import Reader
from tests.waiting import wait_for
from tests.worlds.arena import MODELS, PLENTY, Arena, copy_prepared_data, free_port, new_data_dir

PGBOUNCER = shutil.which("pgbouncer", path="/usr/sbin:/usr/bin")
pytestmark = [
    pytest.mark.faults,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(PGBOUNCER is None, reason="needs Debian's package pgbouncer"),
]
CONFIGURATION = """
[databases]
* = host={host} port={port} user={user} password={password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {listen_port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 4
max_client_conn = 400
logfile = {folder}/pgbouncer.log
"""


class PgBouncer:
    def __init__(self, folder: Path, database: str) -> None:
        facts = conninfo_to_dict(database)
        self._folder, self._port = folder, free_port()
        self.url = f"postgres://{facts['user']}@127.0.0.1:{self._port}/{facts['dbname']}"
        folder.chmod(0o777)  # it does not run as root
        (folder / "pgbouncer.ini").write_text(
            CONFIGURATION.format(listen_port=self._port, folder=folder, **{"port": 5432} | facts)
        )

    def start(self) -> None:
        as_user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.getuid() == 0 else []
        self._process = subprocess.Popen([*as_user, PGBOUNCER, "--quiet", self._folder / "pgbouncer.ini"])
        wait_for(self._answers)

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.url, prepare_threshold=None).close()
        except psycopg.OperationalError:
            return False
        return True

    def stop(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()


@contextmanager
def bouncer_to(database: str, folder: Path) -> Iterator[PgBouncer]:
    bouncer = PgBouncer(folder, database)
    bouncer.start()
    try:
        yield bouncer
    finally:
        bouncer.stop()


@pytest.fixture
def folder() -> Iterator[Path]:
    with new_data_dir() as data_dir:
        data_dir.mkdir()
        yield data_dir


def test_arena_works_through_pgbouncer(steady_provider: FakeProvider, folder: Path):
    with (
        new_data_dir() as data_dir,
        database_without_tables() as database,
        bouncer_to(database, folder) as bouncer,
    ):
        copy_prepared_data(data_dir, "static")
        models = data_dir.with_name("models.yaml")
        models.write_text(MODELS.format(steady_provider.base_url))
        arena = Arena(data_dir)
        arena.environment |= PLENTY | {
            "DATABASE_URL": bouncer.url, "ARENA_PREPARED_STATEMENTS": "false", "ARENA_MODELS_FILE": str(models),
            "ARENA_AGGREGATE_EVERY_S": "5",
        }  # fmt: skip
        try:
            arena.start()
            check_battles(arena)
            bouncer.stop()
            bouncer.start()
            check_battles(arena)
            wait_for(lambda: Reader(arena.url).api("GET", "leaderboard/snapshots/").json()["results"])
            backup = arena.run(sys.executable, "manage.py", "backup", str(folder / "arena.zip"))
            assert backup.returncode == 0, backup.stderr
        finally:
            arena.stop()


def check_battles(arena: Arena) -> None:
    """Answer and vote on more battles at once than PgBouncer has connections."""
    prompts = [f"one two three {number}" for number in range(12)]

    def battle(prompt: str) -> list[tuple[str, str]]:
        reader = Reader(arena.url)
        answered = answered_battle(reader, prompt)
        assert reader.api("POST", f"battles/{answered['id']}/vote/", {"choice": "left"}).status_code == 201
        return texts(answered)

    wait_for(arena.is_ready)
    with ThreadPoolExecutor(12) as people:
        assert list(people.map(battle, prompts)) == [complete_texts(prompt) for prompt in prompts]
