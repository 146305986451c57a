"""Pytest plugin: print the CPU time of a run by kind of test, beside a fixed yardstick, and the slowest tests.

Seconds by the clock depend on the machine and its other work: compare runs by their CPU time in yardsticks.
"""

import json
import os
import re
import statistics
import time
from collections import defaultdict
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ARENA_STARTS, PYTHON, WITHOUT_TEST = "start of arenas", "Python", "collection, services"
# Kinds by marker. Few files of them run one after the other, so that all processes can be counted after each test.
MARKED_KINDS = ("browser", "faults")
SLOWEST = 20
YARDSTICK_EVERY_S = 20
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class Cost(NamedTuple):
    number: int = 0
    cpu_s: float = 0.0
    clock_s: float = 0.0

    def plus(self, other: "Cost") -> "Cost":
        return Cost(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))

    def minus(self, other: "Cost") -> "Cost":
        return Cost(*(mine - theirs for mine, theirs in zip(self, other, strict=True)))


class CostOfTest(NamedTuple):
    nodeid: str
    kind: str
    cpu_s: float
    clock_s: float


class Results(NamedTuple):
    """Costs of the tests that one process ran; `yardsticks` are in CPU seconds."""

    by_kind: dict[str, Cost]
    tests: list[CostOfTest]
    yardsticks: list[float]

    @classmethod
    def from_json(cls, text: str) -> "Results":
        by_kind, tests, yardsticks = json.loads(text)
        return cls(
            {kind: Cost(*cost) for kind, cost in by_kind.items()}, [CostOfTest(*cost) for cost in tests], yardsticks
        )


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("CPU time")
    group.addoption("--cpu-time", action="store_true", help="print the CPU time by kind of test, and the slowest tests")
    group.addoption("--cpu-time-to", metavar="FILE", help="with --cpu-time, write that of each test to FILE, as JSON")


def pytest_configure(config: pytest.Config) -> None:
    if not config.getoption("cpu_time"):
        return
    is_worker = hasattr(config, "workerinput")
    summary = None if is_worker else Summary(config)
    if summary is not None:
        config.pluginmanager.register(summary)
    if is_worker or not config.getoption("numprocesses", None):
        config.pluginmanager.register(Measurement(config, summary))


class Measurement:
    """Adds up the CPU time of a process that runs tests, and of all processes under it."""

    def __init__(self, config: pytest.Config, summary: "Summary | None") -> None:
        self._config, self._summary = config, summary
        self._results = Results(defaultdict(Cost), [], [])
        self._kind = WITHOUT_TEST
        self._kind_began = Cost(clock_s=time.monotonic())
        self._starts = Cost()  # of arenas
        self._yardstick_at = 0.0

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self._measure_yardstick()
        kind = kind_of(item)
        if kind != self._kind:
            self._end_kind(kind)
        is_python = kind == PYTHON  # thousands, in which running processes are PostgreSQL and Valkey only
        before = self._now(with_running=not is_python)
        result = yield
        _, cpu_s, clock_s = self._now(with_running=not is_python).minus(before)
        # An ended process whose parent did not wait for it is no longer counted.
        self._results.tests.append(CostOfTest(item.nodeid, kind, max(cpu_s, 0.0), clock_s))
        self._add(kind, Cost(number=1))
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Generator[None, object, object]:
        if fixturedef.scope == "function" or self._kind == PYTHON:
            return (yield)
        before = self._now()
        result = yield
        if type(result).__name__ == "Arena":
            cost = self._now().minus(before)._replace(number=1)
            self._starts = self._starts.plus(cost)
            self._add(ARENA_STARTS, cost)
        return result

    def pytest_sessionfinish(self) -> None:
        self._end_kind(WITHOUT_TEST)
        results = json.dumps(self._results)
        if self._summary is None:
            self._config.workeroutput["cpu_time"] = results
        else:
            self._summary.results.append(Results.from_json(results))

    def _now(self, *, with_running: bool = True) -> Cost:
        """Return CPU time and clock without those of arenas' starts."""
        return Cost(0, cpu_time_s(with_running=with_running), time.monotonic()).minus(self._starts)

    def _add(self, kind: str, cost: Cost) -> None:
        self._results.by_kind[kind] = self._results.by_kind[kind].plus(cost)

    def _end_kind(self, next_kind: str) -> None:
        """Add what passed since the last change of kinds to the ending kind, with the services' part."""
        now = self._now()
        self._add(self._kind, now.minus(self._kind_began)._replace(number=0))
        self._kind, self._kind_began = next_kind, now

    def _measure_yardstick(self) -> None:
        if time.monotonic() - self._yardstick_at >= YARDSTICK_EVERY_S:
            self._results.yardsticks.append(yardstick_s())
            self._yardstick_at = time.monotonic()


class Summary:
    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._began_at = time.monotonic()
        self.results: list[Results] = []

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        if (text := getattr(node, "workeroutput", {}).get("cpu_time")) is not None:
            self.results.append(Results.from_json(text))

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print after pytest-xdist's workers and the rerun of failed tests have ended."""
        terminalreporter.section("CPU time")
        for line in summary_lines(self.results, cpu_time_s(), time.monotonic() - self._began_at):
            terminalreporter.write_line(line)
        if path := self._config.getoption("cpu_time_to"):
            Path(path).write_text(json.dumps([test for each in self.results for test in each.tests], indent=0))


def kind_of(item: pytest.Item) -> str:
    return next(filter(item.get_closest_marker, MARKED_KINDS), PYTHON)


def summary_lines(results: Iterable[Results], cpu_s: float, clock_s: float) -> list[str]:
    """Return a line for each kind of test, for the run, and for the slowest tests.

    cpu_s: of the run with all its processes; the workers have counted all but the start and the end of it.
    """
    results = list(results)
    by_kind: defaultdict[str, Cost] = defaultdict(Cost)
    for each in results:
        for kind, cost in each.by_kind.items():
            by_kind[kind] = by_kind[kind].plus(cost)
    counted_s = sum(cost.cpu_s for cost in by_kind.values())
    by_kind[WITHOUT_TEST] = by_kind[WITHOUT_TEST].plus(Cost(cpu_s=cpu_s - counted_s))
    lines = [f"{'':22}{'number':>8}{'CPU s':>10}{'clock s':>10}"]
    lines += [
        f"{kind:22}{cost.number or '':>8}{cost.cpu_s:>10.1f}{cost.clock_s:>10.1f}"
        for kind, cost in sorted(by_kind.items(), key=lambda entry: -entry[1].cpu_s)
    ]
    lines.append(f"{'whole run':22}{sum(len(each.tests) for each in results):>8}{cpu_s:>10.1f}{clock_s:>10.1f}")
    if yardsticks := [seconds for each in results for seconds in each.yardsticks]:
        yardstick = statistics.median(yardsticks)
        lines.append(f"{cpu_s / yardstick:,.0f} yardsticks of {yardstick * 1000:.1f} ms")
    lines += ["", f"{'CPU s':>8}{'clock s':>8}  of the slowest tests"]
    tests = sorted((test for each in results for test in each.tests), key=lambda test: -test.clock_s)
    lines += [f"{test.cpu_s:>8.1f}{test.clock_s:>8.1f}  {test.kind:7} {test.nodeid}" for test in tests[:SLOWEST]]
    return lines


def cpu_time_s(*, with_running: bool = True) -> float:
    """Return the CPU time of this process and its ended descendants, and also of the running ones."""
    own = sum(os.times()[:4])
    return own + sum(running_descendants_cpu_s()) if with_running else own


def running_descendants_cpu_s() -> list[float]:
    """Return the CPU time of each running descendant, with that of its ended children."""
    children, cpu_s = defaultdict(list), {}
    for process in Path("/proc").iterdir():
        if not process.name.isdecimal():
            continue
        try:
            fields = (process / "stat").read_bytes().rpartition(b")")[2].split()  # text would take twice as long
        except OSError:  # it has ended
            continue
        children[int(fields[1])].append(int(process.name))
        cpu_s[int(process.name)] = sum(map(int, fields[11:15])) / TICKS_PER_S
    found, waiting = [], [os.getpid()]
    while waiting:
        of_parent = children[waiting.pop()]
        waiting += of_parent
        found += [cpu_s[process] for process in of_parent]
    return found


def yardstick_s() -> float:
    """Return the CPU time of work that is always the same: JSON, a regular expression, sorting and arithmetic."""
    began = time.thread_time()
    rows = [{"number": number * 7919 % 1009, "text": f"row {number} of the yardstick"} for number in range(2500)]
    for _ in range(4):
        copied = json.loads(json.dumps(rows))
        copied.sort(key=lambda row: (row["number"], row["text"]))
        sum(len(re.findall(r"\b\w+k\b", row["text"])) * row["number"] ** 2 for row in copied)
    return time.thread_time() - began
