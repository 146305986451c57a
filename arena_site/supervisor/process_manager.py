"""All children of one launcher: started storey by storey, revived when they fall, stopped in the reverse order."""

import time
from contextlib import suppress
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from arena_site.embedded.program import Program
from arena_site.supervisor import leftovers
from arena_site.supervisor.child import Child
from arena_site.supervisor.terminal import say

# Who ran for so long did not fall over its own start.
STEADY_AFTER_S = 5.0
# Short, because a full disk or a crowd of crashes ends at some moment and people wait for it.
LONGEST_PAUSE_S = 5.0
WRITE_AGAIN_EVERY_S = 2.0
# Of later falls in a row the log's last lines are not repeated.
FALLS_IN_FULL = 4


class Storey(IntEnum):
    SERVICES = 0
    BACKGROUND = 1
    WEB = 2


# How long each storey may take to stop, in seconds: together less than ten.
PATIENCE = {Storey.WEB: 4.0, Storey.BACKGROUND: 3.0, Storey.SERVICES: 2.5}


@dataclass
class Tenant:
    child: Child
    storey: Storey
    falls: int = 0
    back_at: float | None = None


class Household:
    def __init__(self, data_dir: Path, logs: Path) -> None:
        self._data_dir, self._logs = data_dir, logs
        self._tenants: list[Tenant] = []
        self._write_again_at: float | None = None

    def start(self, program: Program, storey: Storey) -> Child:
        child = Child(program, self._logs)
        self._tenants.append(Tenant(child, storey))
        self._write_down()
        return child

    def dismiss(self, child: Child) -> None:
        """Stop one that is not needed any more."""
        child.stop(within=1)
        self._tenants = [tenant for tenant in self._tenants if tenant.child is not child]
        self._write_down()

    def fallen(self) -> Child | None:
        return next((tenant.child for tenant in self._tenants if not tenant.child.is_running), None)

    def revive(self) -> None:
        """Start again who has fallen: at once the first time, then after 0.5, 1, 2, 4, 5, 5 … seconds."""
        if self._write_again_at is not None and time.monotonic() >= self._write_again_at:
            self._write_down()
        for tenant in self._tenants:
            child = tenant.child
            if child.is_running:
                continue
            if tenant.back_at is None:
                tenant.falls = 1 if child.has_run_for > STEADY_AFTER_S else tenant.falls + 1
                pause = 0.0 if tenant.falls == 1 else min(2.0 ** (tenant.falls - 3), LONGEST_PAUSE_S)
                tenant.back_at = time.monotonic() + pause
                when = f"in {pause:g} s" if pause else "now"
                say(f"{child.how_it_ended(with_log=tenant.falls <= FALLS_IN_FULL)}\n  It is started again {when}.")
            if time.monotonic() >= tenant.back_at:
                tenant.back_at = None
                try:
                    child.start()
                except OSError as error:  # no memory, no process ids: the next round counts one more fall
                    say(f"{child.program.label} cannot be started ({error.strerror}).")
                self._write_down()

    def stop(self) -> None:
        for storey in sorted(Storey, reverse=True):
            children = [tenant.child for tenant in self._tenants if tenant.storey is storey]
            deadline = time.monotonic() + PATIENCE[storey]
            for child in children:
                child.ask_to_stop()
            for child in children:
                child.stop(within=deadline - time.monotonic())
        self._tenants = []
        self._write_down()

    def _write_down(self) -> None:
        """Keeps the previous file and tries again while the disk is full."""
        running = []
        for tenant in self._tenants:
            with suppress(OSError):  # it has ended already
                running.append(leftovers.Process.of(tenant.child.process.pid, tenant.child.program.stop_signal))
        try:
            leftovers.write_down(self._data_dir, running)
        except OSError as error:
            if self._write_again_at is None:
                say(f"{self._data_dir} cannot be written to ({error.strerror}). The arena goes on without it.")
            self._write_again_at = time.monotonic() + WRITE_AGAIN_EVERY_S
        else:
            self._write_again_at = None
