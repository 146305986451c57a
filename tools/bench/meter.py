"""CPU seconds and memory of each part of a running arena, from /proc."""

import os
from collections import Counter
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from tests.worlds.arena import ANSWERS, Arena

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


class Times(NamedTuple):
    """Start and CPU time of a process, in ticks; whole: with that of its children that ended."""

    parent: int
    started: int
    own: int
    whole: int


def read_times(pid: int) -> Times:
    """Raises OSError."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    user, system, of_children, system_of_children = map(int, fields[11:15])
    own = user + system
    return Times(int(fields[1]), int(fields[19]), own, own + of_children + system_of_children)


def cpu_seconds(pid: int) -> float:
    """Return one process's time, without children."""
    return read_times(pid).own / TICK


def busy_seconds() -> float:
    """Return the time that all cores of the machine worked, also for others."""
    user, nice, system, _idle, _wait, *of_interrupts = map(int, Path("/proc/stat").read_text().split()[1:8])
    return (user + nice + system + sum(of_interrupts)) / TICK


def spent(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, float]:
    return not_negative({part: value - before.get(part, 0.0) for part, value in after.items()})


# A difference of equal times may be a little below zero.
ROUNDING_S = 1e-6


def not_negative(figures: dict[str, float]) -> dict[str, float]:
    """Return the figures. Ends the bench at a negative one."""
    if wrong := {name: figure for name, figure in figures.items() if figure < -ROUNDING_S}:
        sentence = ", ".join(f"{name} {figure:.4f}" for name, figure in wrong.items())
        raise SystemExit(f"Processor time cannot be negative, so the measurement is wrong: {sentence}")
    return figures


def pss_mb(pid: int) -> float:
    """Return the proportional set size: shared pages are divided among their processes."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


# Process id and start, because ids are used again.
Identity = tuple[int, int]


@dataclass
class _Known:
    """whole: at the last look; counted: ticks in a part's total; of_ended: those of children in theirs."""

    parent: Identity | None = None
    whole: int = 0
    counted: int = 0
    of_ended: int = 0


class ProcessorTime:
    """CPU seconds of processes by part, which never fall."""

    def __init__(self) -> None:
        # A process that ends takes its time out of /proc, and its parent's time of children grows by as much. So the
        # time that a part had at the last look stays, and only the rest counts for the part of the parent.
        self._known: dict[Identity, _Known] = {}
        self._ticks: Counter[str] = Counter()

    def look(self, pids: Mapping[str, list[int]]) -> dict[str, float]:
        """Return each part's seconds so far."""
        running: dict[Identity, tuple[str, Times]] = {}
        for part, of_part in pids.items():
            for pid in of_part:
                with suppress(OSError):  # the process has ended
                    times = read_times(pid)
                    running[pid, times.started] = (part, times)
        self._forget_ended(running.keys())
        identities = {pid: (pid, started) for pid, started in running}
        for identity, (part, times) in running.items():
            known = self._known.setdefault(identity, _Known())
            known.parent, known.whole = identities.get(times.parent), times.whole
            own = max(known.counted, times.whole - known.of_ended)
            self._ticks[part] += own - known.counted
            known.counted = own
        return {part: self._ticks[part] / TICK for part in pids}

    def _forget_ended(self, running: Collection[Identity]) -> None:
        """Leave their time, which is counted, out of that of running ancestors."""
        ended = self._known.keys() - running
        for identity in ended:
            reaper = self._known[identity].parent
            while reaper in ended:
                reaper = self._known[reaper].parent
            if reaper is not None:
                self._known[reaper].of_ended += self._known[identity].whole
        for identity in ended:
            del self._known[identity]


@dataclass
class Meter:
    arena: Arena
    _time: ProcessorTime = field(default_factory=ProcessorTime)

    def _pids(self) -> dict[str, list[int]]:
        pids: dict[str, list[int]] = {part: [] for part in [*PARTS, "launcher"]}
        pids["launcher"].append(self.arena.launcher.pid)
        for command, process in self.arena.processes().items():
            part = next((part for part, mark in PARTS.items() if mark in command), "postgres")
            pids[part].append(process.pid)
        return pids

    def cpu(self) -> dict[str, float]:
        """Return each part's CPU seconds since its start, with those of ended processes."""
        return self._time.look(self._pids())

    def memory(self) -> dict[str, float]:
        """Return each part's megabytes of PSS."""
        return {part: sum(_value_or_zero(pss_mb, pid) for pid in pids) for part, pids in self._pids().items()}


def _value_or_zero(read: object, pid: int) -> float:
    try:
        return read(pid)  # type: ignore[operator]
    except OSError:  # the process has ended
        return 0.0
