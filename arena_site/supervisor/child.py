"""Child process with its own session: Ctrl-C reaches only the launcher."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO

from arena_site.embedded.program import CANNOT_START_STATUS, CannotStart, Program
from arena_site.supervisor.forking import ForkedProcess

# A larger log becomes the previous one.
MAX_LOG_BYTES = 50_000_000


class Child:
    """Running program with its log file; the previous log is `<name>.log.1`."""

    def __init__(self, program: Program, logs: Path) -> None:
        self.program = program
        self.log = logs / f"{program.name}.log"
        with suppress(OSError):  # there is no log yet, or the disk is full
            self.log.rename(self.log.with_suffix(".log.1"))
        self.start()

    def start(self) -> None:
        self.started_at = time.monotonic()
        self.process: ForkedProcess | subprocess.Popen[bytes]
        self.program.before_start()
        with self._open_log() as log:
            self.process = ForkedProcess(self.program, log) if self.program.is_forked else self._run(log)

    def _run(self, log: IO[bytes]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self.program.command,
            cwd=self.program.cwd,
            stdin=subprocess.DEVNULL,
            stdout=None if self.program.inherits_stdout else log,
            stderr=log,
            start_new_session=True,
        )

    def _open_log(self) -> IO[bytes]:
        """Fall back to /dev/null: the disk may be full."""
        try:
            return self.log.open("ab")
        except OSError:
            return Path(os.devnull).open("ab")

    def rotate_log(self) -> None:
        """Move a log beyond MAX_LOG_BYTES aside; the program goes on writing to the same, empty file."""
        with suppress(OSError):  # the disk may be full
            if self.log.stat().st_size > MAX_LOG_BYTES:
                shutil.copyfile(self.log, self.log.with_suffix(".log.1"))
                os.truncate(self.log, 0)

    @property
    def is_running(self) -> bool:
        return self.process.poll() is None

    @property
    def uptime_s(self) -> float:
        return time.monotonic() - self.started_at

    def wait_until_ready(self, *, within: float, pause: Callable[[float], None] = time.sleep) -> float:
        """Return the seconds it took. Raises CannotStart with the end of the log, and exceptions of `pause`."""
        while not self.program.is_ready():
            if not self.is_running:
                raise CannotStart(self.exit_message())
            if self.uptime_s > within:
                raise CannotStart(f"{self.program.label} was not ready after {within:.0f} s.\n{self.last_lines()}")
            pause(0.02)
        return self.uptime_s

    def exit_message(self, *, with_log: bool = True) -> str:
        if self.process.returncode == CANNOT_START_STATUS and (sentence := self._last_line()):
            return sentence
        ended = f"{self.program.label} ended with status {self.process.returncode}."
        return f"{ended}\n{self.last_lines()}" if with_log else ended

    def _last_line(self) -> str:
        try:
            return self.log.read_text(errors="replace").rstrip().rpartition("\n")[2].removeprefix("CommandError: ")
        except OSError:
            return ""

    def last_lines(self) -> str:
        try:
            lines = self.log.read_text(errors="replace").splitlines()[-15:]
        except OSError as error:
            return f"  {self.log} cannot be read ({error.strerror})."
        return "\n".join([f"  The last lines of {self.log}:", *(f"    {line}" for line in lines)])

    def request_stop(self) -> None:
        if self.is_running:
            self.process.send_signal(self.program.stop_signal)

    def stop(self, *, within: float) -> None:
        """Send the stop signal, wait, then kill the session."""
        self.request_stop()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=max(within, 0))
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
