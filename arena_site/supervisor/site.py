"""An arena's directories, address and Django processes, from the environment and .env."""

import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import environ

from arena_site.embedded.program import CannotStart, Program
from arena_site.settings.env import BASE_DIR, data_dir, read_env_file

# Two, so that one serves while the other is restarted or hangs; one serves about 100 votes a second.
WEB_PROCESSES = min(2, os.cpu_count() or 1)
LOOPBACK_OF_WILDCARD = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 (only if the operator binds to it)


@dataclass(frozen=True)
class Site:
    data_dir: Path
    bind: str
    port: int
    web_processes: int
    answer_concurrency: int
    wants_local_model: bool
    host: str
    in_container: bool

    @classmethod
    def from_environment(cls, *, in_container: bool = False) -> "Site":
        """Raises CannotStart for an invalid value."""
        env = environ.Env()
        try:
            read_env_file()
            return cls(
                data_dir=data_dir(env),
                bind=env.str("ARENA_BIND", default="127.0.0.1"),
                port=env.int("ARENA_PORT", default=8000),
                web_processes=env.int("ARENA_WEB_PROCESSES", default=WEB_PROCESSES),
                answer_concurrency=env.int("ARENA_ANSWER_CONCURRENCY", default=100),
                wants_local_model=env.bool("ARENA_LOCAL_MODEL", default=True),
                host=env.list("ARENA_HOSTS", default=["localhost"])[0].lstrip(".").replace("*", "localhost"),
                in_container=in_container,
            )
        except (ValueError, OSError) as error:
            raise CannotStart(f"A setting cannot be read: {error}.") from error

    @property
    def logs(self) -> Path:
        return self.data_dir / "logs"

    @property
    def address(self) -> str:
        """Address for connections from this machine."""
        return LOOPBACK_OF_WILDCARD.get(self.bind, self.bind)

    @property
    def url(self) -> str:
        return f"http://[{self.address}]:{self.port}" if ":" in self.address else f"http://{self.address}:{self.port}"

    def prepare_program(self) -> Program:
        options = ["--in", "one-container"] if self.in_container else []
        return replace(_python("prepare", "Preparing the site", "manage.py", "prepare", *options), inherits_stdout=True)

    def restore_program(self, file: Path) -> Program:
        program = _python("restore", "Restoring the backup", "manage.py", "restore", str(file.absolute()))
        return replace(program, inherits_stdout=True, is_forked=False)

    def background_programs(self) -> list[Program]:
        # common.valkey.heartbeat replaces Celery's own heartbeats.
        no_heartbeats = ["--without-gossip", "--without-mingle", "--without-heartbeat"]
        worker = ["-m", "celery", "-A", "arena_site", "worker", "-P", "threads", *no_heartbeats]
        answers = [*worker, "-Q", "answers,benchmarks", "-n", "answers@%h", "-c", str(self.answer_concurrency)]
        default = [*worker, "-Q", "default", "-n", "default@%h", "-c", "2"]
        beat = ["-m", "celery", "-A", "arena_site", "beat", "--pidfile=", "-s", str(self.data_dir / "beat-schedule")]
        return [
            _python("sweeper", "Sweeper", "manage.py", "sweep"),
            _python("worker-answers", "Answer worker", *answers),
            _python("worker-default", "Background worker", *default),
            _python("beat", "Beat", *beat),
        ]

    def web_programs(self) -> list[Program]:
        serve = ["-m", "arena_site.embedded.web", "--bind", self.bind, "--port", str(self.port)]
        return [_python(f"web-{n}", f"Web process {n}", *serve) for n in range(1, self.web_processes + 1)]


def _python(name: str, label: str, *arguments: str) -> Program:
    """The program is ready at once: /readyz checks all together."""
    return Program(name, label, [sys.executable, *arguments], cwd=BASE_DIR, is_ready=lambda: True, is_forked=True)
