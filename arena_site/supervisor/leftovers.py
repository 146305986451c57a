"""Record of running processes: the next start stops those of a killed launcher."""

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
    """Process id and start in clock ticks since boot; ids alone are reused."""

    pid: int
    started: int
    stop_signal: int = signal.SIGTERM

    @classmethod
    def from_pid(cls, pid: int, stop_signal: int = signal.SIGTERM) -> "Process":
        """Return the running process with this id. Raises OSError."""
        return cls(pid, _start_time(pid), stop_signal)

    @property
    def is_running(self) -> bool:
        with suppress(OSError):
            return _start_time(self.pid) == self.started
        return False

    def send(self, number: int) -> None:
        if self.is_running:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)


def _start_time(pid: int) -> int:
    """Return field 22 of /proc/<pid>/stat. Raises OSError, also for a zombie."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()  # the name may contain spaces
    if fields[0] in "ZX":
        raise ProcessLookupError(pid)
    return int(fields[19])


def acquire_lock(data_dir: Path) -> IO[str]:
    """Lock the data directory until the file is closed or this process ends, also by SIGKILL.

    Raises CannotStart when another launcher holds the lock.
    """
    lock = os.fdopen(os.open(data_dir / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o644), "r+")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise CannotStart(
            f"An arena is already running on {data_dir} (process {lock.read().strip()}): "
            "stop it with `make stop`, or set another ARENA_DATA_DIR and ARENA_PORT."
        ) from error
    os.register_at_fork(after_in_child=lock.close)  # a program that outlives this process must not keep it locked
    # The id is padded to a fixed length, so that overwriting it needs no space on a full disk. If it still fails, only
    # `make stop` is affected: it does not find the launcher.
    with suppress(OSError):
        os.pwrite(lock.fileno(), f"{os.getpid():<10}".encode(), 0)
    return lock


def running_launcher(data_dir: Path) -> Process | None:
    """Return the process that holds the lock."""
    try:
        with (data_dir / LOCK_FILE).open() as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return Process.from_pid(int(lock.read()))
    except (OSError, ValueError):
        pass
    return None


def record_processes(data_dir: Path, processes: list[Process]) -> None:
    """Replace the list of running processes. Raises OSError, keeping the previous list."""
    replace_file(data_dir / RUNNING_FILE, json.dumps([asdict(process) for process in processes]))


def stop_leftovers(data_dir: Path) -> int:
    """Return the number of stopped processes. The caller must hold the lock."""
    try:
        recorded = [Process(**fields) for fields in json.loads((data_dir / RUNNING_FILE).read_text())]
    except (OSError, ValueError, TypeError):
        return 0
    running = [process for process in recorded if process.is_running]
    for process in running:
        process.send(process.stop_signal)
    if not wait_for_end(running, within=GRACE_S):
        for process in running:
            process.send(signal.SIGKILL)
        wait_for_end(running, within=GRACE_S)
    with suppress(OSError):  # an outdated list does no harm: an ended process is never mistaken for another
        record_processes(data_dir, [])
    return len(running)


def wait_for_end(processes: list[Process], *, within: float) -> bool:
    deadline = time.monotonic() + within
    while any(process.is_running for process in processes):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
