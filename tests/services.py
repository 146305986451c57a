"""A throw-away PostgreSQL and Valkey for one run of the tests, unless the environment already names some.

Where the tests are shared out among processes (`pytest -n 2`), each process has its own.
"""

import os
import shutil
import signal
import tempfile
from pathlib import Path

import pytest

from arena_site.embedded.postgres import Postgres
from arena_site.embedded.valkey import Valkey
from arena_site.supervisor.child import Child

# Of the process that shares the tests out. Its settings would otherwise name the services of an arena that runs in this
# folder, and the others would inherit them and empty them.
NOBODYS = {"DATABASE_URL": "postgres://nobody@127.0.0.1:1/none", "REDIS_URL": "redis://127.0.0.1:1/0"}
# As compose makes it: it owns nothing.
CREATE_SITE_ROLE = "CREATE ROLE arena_site LOGIN PASSWORD 'tests';"
# 4,096 rounds are the default, for each of the thousands of connections that tests open.
ONE_ROUND_OF_SCRAM = "SET scram_iterations = 1;\nALTER ROLE arena PASSWORD 'tests';"
# With it tests/database_reset.py deletes rows in any order, without triggers and foreign keys.
GRANT_RESET = "GRANT SET ON PARAMETER session_replication_role TO arena;"
_children: list[Child] = []
_directories: list[Path] = []


def start() -> None:
    """Export DATABASE_URL and REDIS_URL, and start what they point to where they were not set."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    missing = [name for name, nobodys in NOBODYS.items() if os.environ.get(name, nobodys) == nobodys]
    if not missing:
        return
    directory = Path(tempfile.mkdtemp(prefix="arena-test-", dir="/tmp"))
    directory.chmod(0o711)  # PostgreSQL of a root user runs as nobody
    _directories.append(directory)
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


def stop() -> None:
    while _children:
        _children.pop().stop(within=5)
    while _directories:
        shutil.rmtree(_directories.pop())


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(early_config: pytest.Config):
    """Before pytest-django reads the settings."""
    os.environ["ARENA_ENV_FILE"] = os.devnull  # what somebody set for their own arena is not tested
    shares_out = early_config.known_args_namespace.numprocesses and "PYTEST_XDIST_WORKER" not in os.environ
    if shares_out:  # and runs no test itself
        os.environ |= {name: os.environ.get(name, nobodys) for name, nobodys in NOBODYS.items()}
    else:
        early_config.add_cleanup(stop)
        start()
    return (yield)
