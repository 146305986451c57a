"""Temporary data directory, PostgreSQL and Valkey for one run of the tests; services named by the environment are used.

With `pytest -n 2` each worker has its own.
"""

import fcntl
import os
import shutil
import signal
import sys
import tempfile
from importlib.util import cache_from_source
from pathlib import Path
from typing import TextIO

import pytest

from arena_site.embedded.postgres import Postgres
from arena_site.embedded.valkey import Valkey
from arena_site.supervisor.child import Child

# Services of the controlling process of `pytest -n 2`. Its settings would otherwise name those of an arena running in
# this folder; workers would inherit and empty them.
UNREACHABLE = {"DATABASE_URL": "postgres://unused@127.0.0.1:1/none", "REDIS_URL": "redis://127.0.0.1:1/0"}
# The role owns nothing, like the one that compose creates.
CREATE_SITE_ROLE = "CREATE ROLE arena_site LOGIN PASSWORD 'tests';"
# The default of 4,096 rounds would slow down thousands of connections.
ONE_ROUND_OF_SCRAM = "SET scram_iterations = 1;\nALTER ROLE arena PASSWORD 'tests';"
# Lets tests/database_reset.py delete rows in any order, without triggers and foreign keys.
GRANT_RESET = "GRANT SET ON PARAMETER session_replication_role TO arena;"
# Room that tests may need in memory; there, PostgreSQL takes a twentieth less CPU time than on a disk.
MEMORY, ROOM_BYTES = Path("/dev/shm"), 4 << 30
# Directory shared by the processes of one test run; the controlling process removes it.
RUN_DIR = "ARENA_TESTS_RUN_DIR"
# File in RUN_DIR that exists once the modules of the project and of the tests are compiled.
COMPILED = "compiled"
_children: list[Child] = []
_directories: list[Path] = []


def parent_of_data() -> Path:
    """Return where data directories of tests are made."""
    has_room = MEMORY.is_dir() and shutil.disk_usage(MEMORY).free >= ROOM_BYTES
    return MEMORY if has_room else Path("/tmp")


def start() -> None:
    """Start the services that the environment does not name, and export their URLs and the data directory."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    directory = Path(tempfile.mkdtemp(prefix="arena-test-"))
    directory.chmod(0o711)  # root's PostgreSQL runs as another user, who must be able to enter
    _directories.append(directory)
    # Tests would otherwise store uploads beside those of an arena in this folder, and read its static files.
    os.environ["ARENA_DATA_DIR"] = str(directory / "data")
    missing = [name for name, url in UNREACHABLE.items() if os.environ.get(name, url) == url]
    services = {
        "DATABASE_URL": Postgres(
            directory / "pg",
            directory / "pgs",
            "tests",
            durable=False,
            more_statements=f"{ONE_ROUND_OF_SCRAM}\n{CREATE_SITE_ROLE}\n{GRANT_RESET}\n",
        ),
        "REDIS_URL": Valkey(directory / "valkey", directory / "vks", durable=False),
    }
    for name in missing:
        os.environ[name] = services[name].url
        _children.append(Child(services[name].prepare(), directory))
    for child in _children:
        child.wait_until_ready(within=120)


def has_own_database() -> bool:
    """Return whether PostgreSQL was started for the tests, so that its database `arena` is theirs."""
    return any(child.program.name == "postgres" for child in _children)


def stop() -> None:
    while _children:
        _children.pop().stop(within=5)
    while _directories:
        shutil.rmtree(_directories.pop())


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(early_config: pytest.Config):
    """Start services before pytest-django reads the settings."""
    os.environ["ARENA_ENV_FILE"] = os.devnull  # ignore the .env of an arena in this folder
    # Containers often set it. Collecting the tests would take a half longer, and every process that they start, too.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    is_worker = "PYTEST_XDIST_WORKER" in os.environ
    options = early_config.known_args_namespace
    if not is_worker:
        _make_run_dir(early_config)
    if options.numprocesses and not is_worker:  # the controlling process runs no tests itself
        os.environ |= {name: os.environ.get(name, url) for name, url in UNREACHABLE.items()}
        options.noconftest = True  # without the fixtures and Django, the workers start three seconds earlier
    else:
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arena_site.settings.test")
        early_config.add_cleanup(stop)
        start()
        if is_worker:
            early_config.pluginmanager.register(Compilation(Path(os.environ[RUN_DIR])))
    return (yield)


def _make_run_dir(config: pytest.Config) -> None:
    os.environ["TMPDIR"] = str(parent_of_data())  # for all directories of this run
    tempfile.tempdir = None  # it is read from the environment again
    os.environ[RUN_DIR] = directory = tempfile.mkdtemp(prefix="arena-test-run-")
    Path(directory).chmod(0o711)  # for the unprivileged user that PostgreSQL runs as under root
    config.add_cleanup(lambda: shutil.rmtree(directory))
    if Path(cache_from_source(str(config.rootpath / "battles" / "__init__.py"))).exists():
        Path(directory, COMPILED).touch()


class Compilation:
    """Lets one worker compile all modules first: in a fresh clone, each would compile them."""

    def __init__(self, run_dir: Path) -> None:
        self._compiled = run_dir / COMPILED
        self._lock: TextIO | None = (run_dir / "compilation.lock").open("w")  # closed also when the worker dies
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        if self._compiled.exists():
            self._end()

    def pytest_collection_finish(self) -> None:
        self._end()

    def _end(self) -> None:
        self._compiled.touch()
        if self._lock is not None:
            self._lock.close()
            self._lock = None
