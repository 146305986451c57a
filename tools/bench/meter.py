"""CPU seconds and memory of each part of a running arena, from /proc."""

import os
from dataclasses import dataclass
from pathlib import Path

from tests.faults.running import ANSWERS, Arena

TICK = os.sysconf("SC_CLK_TCK")
# Parts are identified by this text in their command line.
PARTS = {
    "web": "embedded.web",
    "answers": ANSWERS,
    "rendering": "common.rendering.child",
    "valkey": "valkey-server",
    "postgres": "postgres",
    "default": "-Q default",
    "beat": "beat",
    "sweeper": "sweep",
    "scoring": "benchmarks.scoring.child",
}


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def pss_mb(pid: int) -> float:
    """Return the proportional set size: shared pages are divided among their processes."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


@dataclass
class Meter:
    arena: Arena

    def _pids(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {part: [] for part in [*PARTS, "launcher"]}
        found["launcher"].append(self.arena.launcher.pid)
        for command, process in self.arena.processes().items():
            part = next((part for part, mark in PARTS.items() if mark in command), "postgres")
            found[part].append(process.pid)
        return found

    def cpu(self) -> dict[str, float]:
        """Return each part's CPU seconds since its start."""
        return {part: sum(_value_or_zero(cpu_seconds, pid) for pid in pids) for part, pids in self._pids().items()}

    def memory(self) -> dict[str, float]:
        """Return each part's megabytes of PSS."""
        return {part: sum(_value_or_zero(pss_mb, pid) for pid in pids) for part, pids in self._pids().items()}


def _value_or_zero(read: object, pid: int) -> float:
    try:
        return read(pid)  # type: ignore[operator]
    except OSError:  # the process has ended
        return 0.0
