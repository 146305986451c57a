"""The launcher's children: started stage by stage, restarted when they exit, stopped in reverse order."""

import time
from contextlib import suppress
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from arena_site.embedded.program import Program
from arena_site.supervisor import leftovers
from arena_site.supervisor.child import Child
from arena_site.supervisor.terminal import echo

# A process that ran this long did not fail while starting: its next restart is immediate.
STABLE_AFTER_S = 5.0
# The delay is short: a full disk is freed at some point, and people are waiting for the arena.
MAX_RESTART_DELAY_S = 5.0
RECORD_RETRY_INTERVAL_S = 2.0
# The log's last lines are printed after each of the first exits in a row only.
MAX_EXITS_WITH_LOG = 4


class Stage(IntEnum):
    SERVICES = 0
    BACKGROUND = 1
    WEB = 2


# The three last less than ten seconds together.
STOP_TIMEOUT_S = {Stage.WEB: 4.0, Stage.BACKGROUND: 3.0, Stage.SERVICES: 2.5}


@dataclass
class ManagedProcess:
    child: Child
    stage: Stage
    exits_in_a_row: int = 0
    restart_at: float | None = None


class ProcessManager:
    def __init__(self, data_dir: Path, logs: Path) -> None:
        self._data_dir, self._logs = data_dir, logs
        self._processes: list[ManagedProcess] = []
        self._record_again_at: float | None = None

    def start(self, program: Program, stage: Stage) -> Child:
        child = Child(program, self._logs)
        self._processes.append(ManagedProcess(child, stage))
        self._record()
        return child

    def terminate(self, child: Child) -> None:
        """Stop a child and no longer manage it."""
        child.stop(within=1)
        self._processes = [process for process in self._processes if process.child is not child]
        self._record()

    def exited(self) -> Child | None:
        """Return a child that is not running."""
        return next((process.child for process in self._processes if not process.child.is_running), None)

    @property
    def is_settled(self) -> bool:
        """Whether only the end of a process needs attention."""
        is_recorded = self._record_again_at is None
        return is_recorded and all(process.child.is_running for process in self._processes)

    def restart_exited(self) -> None:
        """Restart exited children: at once the first time, then after 0.5, 1, 2, 4, 5, 5 … seconds."""
        if self._record_again_at is not None and time.monotonic() >= self._record_again_at:
            self._record()
        for process in self._processes:
            if not process.child.is_running:
                self._restart(process)

    def _restart(self, process: ManagedProcess) -> None:
        child = process.child
        if process.restart_at is None:
            process.exits_in_a_row = 1 if child.uptime_s > STABLE_AFTER_S else process.exits_in_a_row + 1
            exits = process.exits_in_a_row
            delay = 0.0 if exits == 1 else min(2.0 ** (exits - 3), MAX_RESTART_DELAY_S)
            process.restart_at = time.monotonic() + delay
            when = f"in {delay:g} s" if delay else "now"
            echo(f"{child.exit_message(with_log=exits <= MAX_EXITS_WITH_LOG)}\n  It is started again {when}.")
        if time.monotonic() >= process.restart_at:
            process.restart_at = None
            try:
                child.start()
            except OSError as error:  # no memory, no process ids: the next round counts one more exit
                echo(f"{child.program.label} cannot be started ({error.strerror}).")
            self._record()

    def rotate_logs(self) -> None:
        for process in self._processes:
            process.child.rotate_log()

    def stop(self) -> None:
        for stage in sorted(Stage, reverse=True):
            children = [process.child for process in self._processes if process.stage is stage]
            deadline = time.monotonic() + STOP_TIMEOUT_S[stage]
            for child in children:
                child.request_stop()
            for child in children:
                child.stop(within=deadline - time.monotonic())
        self._processes = []
        self._record()

    def _record(self) -> None:
        """Record the running processes; while the disk is full, keep the previous file and retry later."""
        running = []
        for process in self._processes:
            with suppress(OSError):  # it has ended already
                running.append(leftovers.Process.from_pid(process.child.process.pid, process.child.program.stop_signal))
        try:
            leftovers.record_processes(self._data_dir, running)
        except OSError as error:
            if self._record_again_at is None:
                echo(f"{self._data_dir} cannot be written to ({error.strerror}). The arena goes on without it.")
            self._record_again_at = time.monotonic() + RECORD_RETRY_INTERVAL_S
        else:
            self._record_again_at = None
