"""What is running for a data directory, written down so that a later start can stop what a killed launcher left."""

import fcntl
import json
import os
import signal
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from arena_site.embedded.program import CannotStart
from arena_site.supervisor.state_file import replace_file

LOCK_FILE, RUNNING_FILE = "launcher.lock", "running.json"
GRACE_S = 5


@dataclass(frozen=True)
class Process:
    """A process id and its start in clock ticks since boot: together they are never used twice."""

    pid: int
    started: int
    stop_signal: int = signal.SIGTERM

    @classmethod
    def of(cls, pid: int, stop_signal: int = signal.SIGTERM) -> "Process":
        """Raises OSError when there is none."""
        return cls(pid, _start_of(pid), stop_signal)

    @property
    def is_running(self) -> bool:
        with suppress(OSError):
            return _start_of(self.pid) == self.started
        return False

    def send(self, number: int) -> None:
        if self.is_running:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)


def _start_of(pid: int) -> int:
    """Field 22 of /proc/<pid>/stat; a zombie counts as gone. Raises OSError."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()  # its name may contain spaces
    if fields[0] in "ZX":
        raise ProcessLookupError(pid)
    return int(fields[19])


def hold(data_dir: Path) -> IO[str]:
    """The lock of this data directory, ours until the file is closed or this process ends, however it ends.

    Raises CannotStart when another launcher holds it.
    """
    lock = os.fdopen(os.open(data_dir / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o644), "r+")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise CannotStart(
            f"An arena is already running on {data_dir} (process {lock.read().strip()}): "
            "stop it with `make stop`, or set another ARENA_DATA_DIR and ARENA_PORT."
        ) from error
    # Always as long as before, so that it also fits on a full disk; without it only `make stop` finds nobody.
    with suppress(OSError):
        os.pwrite(lock.fileno(), f"{os.getpid():<10}".encode(), 0)
    return lock


def launcher_of(data_dir: Path) -> Process | None:
    """Whoever holds the lock now."""
    try:
        with (data_dir / LOCK_FILE).open() as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return Process.of(int(lock.read()))
    except (OSError, ValueError):
        pass
    return None


def write_down(data_dir: Path, processes: list[Process]) -> None:
    """Raises OSError, and then what was written before is still there."""
    replace_file(data_dir / RUNNING_FILE, json.dumps([asdict(process) for process in processes]))


def stop_leftovers(data_dir: Path) -> int:
    """Ends what is written down and still running; how many there were. Only for who holds the lock."""
    try:
        written = [Process(**fields) for fields in json.loads((data_dir / RUNNING_FILE).read_text())]
    except (OSError, ValueError, TypeError):
        return 0
    running = [process for process in written if process.is_running]
    for process in running:
        process.send(process.stop_signal)
    if not wait_for_end(running, within=GRACE_S):
        for process in running:
            process.send(signal.SIGKILL)
        wait_for_end(running, within=GRACE_S)
    with suppress(OSError):  # a process that has ended is never taken for another one
        write_down(data_dir, [])
    return len(running)


def wait_for_end(processes: list[Process], *, within: float) -> bool:
    """Whether all of them ended in `within` seconds."""
    deadline = time.monotonic() + within
    while any(process.is_running for process in processes):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
