"""A whole arena in real processes, with its own data directory and port."""

import fcntl
import http.client
import json
import os
import resource
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
from django.conf import settings

from arena_site.embedded.directories import make_traversable, runtime_dir
from arena_site.embedded.postgres import Postgres
from arena_site.settings.env import SERVICE_FILE
from arena_site.supervisor.child import Child
from arena_site.supervisor.leftovers import Process
from tests import migrated
from tests.fake_provider import FakeProvider
from tests.services import RUN_DIR, parent_of_data
from tests.waiting import wait_for

POSTGRES, VALKEY, WEB = "bin/postgres", "valkey-server", "arena_site.embedded.web"
ANSWERS, SWEEPER = "-Q answers,benchmarks", "manage.py sweep"
# Both contestants repeat the prompt's words, one every five milliseconds, so that every text is known.
MODELS = """
- {{id: left-one, name: Left one, model: steady, base_url: "{0}", needs_key: false, status: active}}
- {{id: right-one, name: Right one, model: steady, base_url: "{0}", needs_key: false, status: active}}
"""
PLENTY = {
    f"ARENA_LIMIT_{action}_{who}": "100000/hour"
    for action in ("BATTLE", "TURN", "VOTE")
    for who in ("VISITOR", "MEMBER")
}
UP = [sys.executable, "-u", "-m", "arena_site.supervisor"]
CONSOLE = [sys.executable, "-W", "ignore", "-m", "tests.faults.console"]


def free_port() -> int:
    """Return a free port outside of the range for outgoing connections, so that it stays free."""
    while True:
        port = 20_000 + secrets.randbelow(12_000)  # `random` has the same seed in every worker of a test run
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def _children_of(pid: int) -> list[int]:
    found = []
    with suppress(FileNotFoundError):  # the process ended meanwhile
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):  # the thread ended meanwhile
                found += [int(child) for child in (thread / "children").read_text().split()]
    return found


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@contextmanager
def new_data_dir() -> Iterator[Path]:
    """Yield a path that does not exist yet; remove its parent afterwards."""
    directory = Path(tempfile.mkdtemp(prefix="arena-test-site-", dir=parent_of_data()))
    directory.chmod(0o711)  # root's PostgreSQL runs as another user, who must be able to enter
    try:
        yield directory / "data"
    finally:
        shutil.rmtree(directory)


@contextmanager
def arena_with(provider: FakeProvider, **environment: str) -> Iterator["Arena"]:
    """Start an arena whose two contestants are models of this provider."""
    with new_data_dir() as data_dir:
        models = data_dir.with_name("models.yaml")
        models.write_text(MODELS.format(provider.base_url))
        copy_prepared_data(data_dir)
        arena = Arena(data_dir)
        arena.environment |= PLENTY | {"ARENA_MODELS_FILE": str(models), "ARENA_WEB_PROCESSES": "1"} | environment
        try:
            arena.start()
            assert "Fewer than two models" not in arena.output_text
            yield arena
        finally:
            arena.stop()


def copy_prepared_data(data_dir: Path, part: str = "") -> None:
    """Copy the data directory of a stopped arena without models, prepared once per test run.

    part: the only directory to copy. Outside of a test run nothing is copied, and the arena prepares its own.
    """
    if run_dir := os.environ.get(RUN_DIR):
        prepared = Path(run_dir) / "data"
        with Path(run_dir, "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not prepared.exists():
                _prepare_data(prepared)
        if part:
            data_dir.mkdir(mode=0o711, exist_ok=True)
        subprocess.run(["cp", "--archive", "--reflink=auto", prepared / part, data_dir / part], check=True)


def _prepare_data(data_dir: Path) -> None:
    """Make a cluster with all migrations and collect static files, as a first start does."""
    unfinished = data_dir.with_name("unfinished")
    _make_cluster(unfinished)
    models = data_dir.with_name("models.yaml")
    models.write_text("[]")
    arena = Arena(unfinished)
    arena.environment |= {"ARENA_MODELS_FILE": str(models)}
    try:
        arena.launch()
        wait_for(lambda: arena.launcher.poll() is not None or "Site prepared" in arena.output_text, within=240)
    finally:
        arena.stop()
    assert "Site prepared" in arena.output_text, arena.output_text
    unfinished.rename(data_dir)


def _make_cluster(data_dir: Path) -> None:
    make_traversable(data_dir)
    password = secrets.token_urlsafe(32)
    (data_dir / SERVICE_FILE).write_text(json.dumps({"ARENA_POSTGRES_PASSWORD": password}))
    postgres = Postgres(data_dir / "postgres-18", runtime_dir(data_dir) / "postgres", password, durable=False)
    server = Child(postgres.prepare(), data_dir)
    try:
        server.wait_until_ready(within=120)
        migrated.fill(postgres.url)
    finally:
        server.stop(within=60)


class Arena:
    def __init__(self, data_dir: Path, port: int | None = None) -> None:
        self.data_dir, self.port = data_dir, port or free_port()
        self.output = data_dir.with_name(f"output-{self.port}")
        self.environment = {
            "PATH": os.environ["PATH"],
            "DJANGO_SETTINGS_MODULE": "tests.arena_settings",
            "ARENA_ENV_FILE": os.devnull,  # keeps the arena away from the services of a .env in this folder
            "ARENA_DATA_DIR": str(data_dir),
            "ARENA_PORT": str(self.port),
            "ARENA_LOCAL_MODEL": "0",
            "ARENA_GALLERY": "true",
            "ARENA_PUBLIC_STATISTICS": "true",
        }
        self._console: subprocess.Popen[str] | None = None
        self._beside: list[int] = []

    def run(self, *command: str, within: float = 120) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=settings.BASE_DIR, env=self.environment, capture_output=True, text=True, timeout=within
        )

    def launch(self) -> None:
        with self.output.open("wb") as output:
            self.launcher = subprocess.Popen(
                UP, cwd=settings.BASE_DIR, env=self.environment, stdout=output, stderr=output, start_new_session=True
            )

    def start(self) -> "Arena":
        self.launch()
        wait_for(
            lambda: self.launcher.poll() is not None or f"Arena ready: {self.url}\n" in self.output_text, within=240
        )
        assert self.launcher.poll() is None, self.output_text
        return self

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def output_text(self) -> str:
        return self.output.read_text()

    @property
    def services(self) -> dict[str, str]:
        return json.loads((self.data_dir / "services.json").read_text())

    def is_ready(self) -> bool:
        """Ask several times, as each web process has its own view."""
        return all(self._says_ready() for _ in range(6))

    def _says_ready(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()

    def processes(self) -> dict[str, Process]:
        """Return the launcher's running descendants, and programs beside it, by "command line, process id"."""
        found = {}
        waiting = [*self._beside, *_children_of(self.launcher.pid)]
        while waiting:
            pid = waiting.pop()
            with suppress(OSError):  # it ended meanwhile
                command = Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
                found[f"{command} {pid}"] = Process.from_pid(pid)
                waiting += _children_of(pid)
        return found

    @contextmanager
    def program_beside(self, *arguments: str) -> Iterator[None]:
        """Run a further process of the arena, as another machine would."""
        command = [sys.executable, *arguments]
        process = subprocess.Popen(
            command, cwd=settings.BASE_DIR, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self._beside.append(process.pid)
        try:
            yield
        finally:
            self._beside.remove(process.pid)
            process.terminate()
            process.wait(60)

    def pid_of(self, program: str) -> int | None:
        commands = self.processes().items()
        return next((process.pid for command, process in commands if f"{program} " in command), None)

    def signal(self, program: str, number: int = signal.SIGKILL) -> int:
        """Send a signal to the program and return its process id."""
        pid = self.pid_of(program)
        assert pid is not None, f"{program} does not run"
        os.kill(pid, number)
        return pid

    @contextmanager
    def hung(self, program: str) -> Iterator[None]:
        """Stop the program (SIGSTOP), so that its connections hang."""
        pid = self.signal(program, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(pid, signal.SIGCONT)

    @contextmanager
    def gone(self, program: str) -> Iterator[None]:
        """Kill the program, and stop the launcher so that it is not restarted."""
        self.launcher.send_signal(signal.SIGSTOP)
        try:
            children = _children_of(self.pid_of(program) or 0)
            pid = self.signal(program)
            # Connections of a killed PostgreSQL serve on until their processes notice it.
            wait_for(lambda: not any(map(_runs, [pid, *children])))
            yield
        finally:
            self.launcher.send_signal(signal.SIGCONT)

    @contextmanager
    def full_disk(self) -> Iterator[None]:
        """Make writes of the launcher and of processes that it starts fail.

        A limit on file sizes simulates the full disk, because mounting a small one needs privileges. PostgreSQL handles
        both in the same way.
        """
        unlimited = resource.prlimit(self.launcher.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(self.launcher.pid, resource.RLIMIT_FSIZE, (0, unlimited[1]))
        try:
            yield
        finally:
            freed: set[int] = set()
            # Again for those that a process started before it was freed itself.
            while limited := {self.launcher.pid, *(each.pid for each in self.processes().values())} - freed:
                for pid in limited:
                    with suppress(PermissionError, ProcessLookupError):  # PostgreSQL of another user; it is restarted
                        resource.prlimit(pid, resource.RLIMIT_FSIZE, unlimited)
                freed |= limited

    def has_restarted(self, program: str, killed: int) -> bool:
        return self.pid_of(program) not in (None, killed) and self.is_ready()

    def query(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.services["DATABASE_URL"]) as connection:
            return connection.execute(sql, values).fetchall()

    def choose_limit(self, action: str, who: str, rate: str) -> None:
        """Set a limit like an administrator; in force within five seconds."""
        self.query(
            "INSERT INTO accounts_limit (action, who, rate, changed_at) VALUES (%s, %s, %s, now()) "
            "ON CONFLICT (action, who) DO UPDATE SET rate = excluded.rate RETURNING id",
            action, who, rate,
        )  # fmt: skip

    def manage(self, *command: str) -> str:
        done = self.run(sys.executable, "-W", "ignore", "manage.py", *command)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def shell(self, code: str) -> str:
        """Run code in the arena's Django and return its output; one process runs all of an arena's code."""
        if self._console is None:
            self._console = subprocess.Popen(
                CONSOLE, cwd=settings.BASE_DIR, env=self.environment,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            )  # fmt: skip
        assert self._console.stdin is not None
        assert self._console.stdout is not None
        self._console.stdin.write(json.dumps(code) + "\n")
        self._console.stdin.flush()
        reply = json.loads(self._console.stdout.readline() or '{"error": "The console has ended."}')
        assert not reply["error"], reply["error"]
        return reply["printed"]

    def stop(self) -> None:
        """Stop the arena in any state."""
        if self._console is not None:
            self._console.communicate()  # ends with its input
            self._console = None
        if self.launcher.poll() is None:
            self.launcher.send_signal(signal.SIGTERM)
            self.launcher.wait(300)
        if self.launcher.returncode != 0:
            self.run(*UP, "stop")
