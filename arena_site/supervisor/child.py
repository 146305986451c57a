"""One program that runs as our child, in a session of its own so that Ctrl-C reaches only us."""

import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

from arena_site.embedded.program import CannotStart, Program


class Child:
    """A running program and its log file. Its earlier log is kept as `<name>.log.1`."""

    def __init__(self, program: Program, logs: Path) -> None:
        self.program = program
        self.log = logs / f"{program.name}.log"
        with suppress(FileNotFoundError):
            self.log.rename(self.log.with_suffix(".log.1"))
        self._start()

    def _start(self) -> None:
        self.started_at = time.monotonic()
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.program.command,
                cwd=self.program.cwd,
                env={**os.environ, **self.program.environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def restart(self) -> None:
        self._start()

    @property
    def is_running(self) -> bool:
        return self.process.poll() is None

    def wait_until_ready(self, *, within: float) -> float:
        """Seconds it took. Raises CannotStart with the end of its log."""
        while not self.program.is_ready():
            waited = time.monotonic() - self.started_at
            if not self.is_running or waited > within:
                reason = "was not ready in time" if self.is_running else f"ended ({self.process.returncode})"
                raise CannotStart(f"{self.program.name} {reason}; its log ends with:\n{self.last_lines()}")
            time.sleep(0.02)
        return time.monotonic() - self.started_at

    def last_lines(self, count: int = 15) -> str:
        lines = self.log.read_text(errors="replace").splitlines()[-count:]
        return "\n".join(f"    {line}" for line in lines)

    def ask_to_stop(self) -> None:
        if self.is_running:
            self.process.send_signal(self.program.stop_signal)

    def stop(self, *, within: float) -> None:
        """Ask, wait, and end whatever is left of it."""
        self.ask_to_stop()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=max(within, 0))
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
