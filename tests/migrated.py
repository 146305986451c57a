"""Databases with the tables of all migrations, which are applied once per test run and copied.

Applying them takes five seconds of CPU time, a copy half a second.
"""

import fcntl
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.db import connection

from arena_site.embedded.postgres import binary
from tests.services import RUN_DIR


def fill(database: str) -> None:
    """Give an empty database of the tests, by its URL, all tables and the rows that migrations create."""
    _fill(database, lambda: migrate(database))


def fill_default() -> None:
    """Fill the database of the settings from within this process."""
    _fill(os.environ["DATABASE_URL"], lambda: call_command("migrate", verbosity=0))
    connection.close()


def _fill(database: str, migrate: Callable[[], None]) -> None:
    run_dir = Path(os.environ[RUN_DIR])
    dump = run_dir / "migrated.sql"
    with Path(run_dir, "migrated.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not dump.exists():
            migrate()
            unfinished = dump.with_suffix(".unfinished")
            _run("pg_dump", "--no-owner", "--file", unfinished, database)
            unfinished.rename(dump)
            return
    options = ["--quiet", "--no-psqlrc", "--single-transaction", "--set", "ON_ERROR_STOP=1"]
    _run("psql", *options, "--file", dump, "--dbname", database)


def migrate(database: str) -> None:
    environment = os.environ | {"DATABASE_URL": database, "DJANGO_SETTINGS_MODULE": "arena_site.settings.test"}
    command = [sys.executable, "-W", "ignore", "manage.py", "migrate", "--verbosity", "0"]
    subprocess.run(command, cwd=settings.BASE_DIR, env=environment, check=True)


def _run(program: str, *arguments: str | Path) -> None:
    subprocess.run([binary(program), *arguments], stdout=subprocess.DEVNULL, check=True)
