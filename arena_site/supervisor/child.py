"""One program that runs as our child, in a session of its own so that Ctrl-C reaches only us."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
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
        self.start()

    def start(self) -> None:
        """Also again, after it ended."""
        self.started_at = time.monotonic()
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.program.command,
                cwd=self.program.cwd,
                stdin=subprocess.DEVNULL,
                stdout=None if self.program.speaks else log,
                stderr=log,
                start_new_session=True,
            )

    @property
    def is_running(self) -> bool:
        return self.process.poll() is None

    @property
    def has_run_for(self) -> float:
        """Seconds since its last start."""
        return time.monotonic() - self.started_at

    def wait_until_ready(self, *, within: float, pause: Callable[[float], None] = time.sleep) -> float:
        """Seconds it took. Raises CannotStart with the end of its log, and whatever `pause` raises."""
        while not self.program.is_ready():
            if not self.is_running:
                raise CannotStart(self.how_it_ended())
            if self.has_run_for > within:
                raise CannotStart(f"{self.program.label} was not ready after {within:.0f} s.\n{self.last_lines()}")
            pause(0.02)
        return self.has_run_for

    def how_it_ended(self) -> str:
        return f"{self.program.label} ended with status {self.process.returncode}.\n{self.last_lines()}"

    def last_lines(self) -> str:
        """The end of its log, to show at the terminal."""
        lines = self.log.read_text(errors="replace").splitlines()[-15:]
        return "\n".join([f"  The last lines of {self.log}:", *(f"    {line}" for line in lines)])

    def ask_to_stop(self) -> None:
        if self.is_running:
            self.process.send_signal(self.program.stop_signal)

    def stop(self, *, within: float) -> None:
        """Ask, wait, and end whatever is left of its session."""
        self.ask_to_stop()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=max(within, 0))
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
