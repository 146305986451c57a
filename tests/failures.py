"""Pytest plugin: rerun failed tests once by themselves, and print commands that repeat a failing run."""

import json
import shlex
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path

import pytest

# More failures mean that something is broken, and a rerun only takes time.
MAX_RERUNS = 20


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("failures")
    group.addoption(
        "--rerun-failed", action="store_true",
        help="run failed tests once more by themselves; those that pass then are reported as flaky",
    )  # fmt: skip
    group.addoption("--order", metavar="FILE", help="run only the tests that FILE lists, in its order")
    group.addoption("--passed-to", metavar="FILE", help="write the ids of passed tests to FILE, as JSON")


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Failures(config))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if path := config.getoption("order"):
        by_id = {item.nodeid: item for item in items}
        items[:] = [by_id[line] for line in Path(path).read_text().splitlines() if line in by_id]


class Failures:
    """Failures of this run, in the reporting process."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.first_reports: dict[str, pytest.TestReport] = {}
        self.called: set[str] = set()  # tests whose call passed
        self.flaky: list[str] = []
        self.has_collection_errors = False
        # Worker of pytest-xdist, "" without it → ids of its tests in order.
        self.orders: defaultdict[str, list[str]] = defaultdict(list)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self.has_collection_errors |= report.failed

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "setup":
            self.orders[getattr(report, "worker_id", "")].append(report.nodeid)
        if report.passed and report.when == "call":
            self.called.add(report.nodeid)
        if report.failed:
            self.first_reports.setdefault(report.nodeid, report)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None]:
        """Rerun after pytest-xdist's workers have ended and before the summary."""
        yield
        if path := self.config.getoption("passed_to"):
            Path(path).write_text(json.dumps(sorted(self.called - self.first_reports.keys())))
        is_asked = self.config.getoption("rerun_failed") and session.exitstatus == pytest.ExitCode.TESTS_FAILED
        if is_asked and not self.has_collection_errors and 0 < len(self.first_reports) <= MAX_RERUNS:
            failed_again = self._rerun()
            self.flaky = [each for each in self.first_reports if each not in failed_again]
            self._move_flaky_in_summary()
            if not failed_again:
                session.exitstatus = pytest.ExitCode.OK

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.flaky:
            terminalreporter.section("FLAKY: failed, then passed by themselves", "=", yellow=True)
        for each in self.flaky:
            terminalreporter.section(each, "_", yellow=True)
            terminalreporter.write_line(self.first_reports[each].longreprtext)

    def pytest_unconfigure(self) -> None:
        """Print flaky tests and commands below the summary."""
        writer = self.config.get_terminal_writer()
        for each in self.flaky:
            writer.line(f"FLAKY {each} - {_reason(self.first_reports[each])}", yellow=True)
        if self.first_reports and not self.config.getoption("passed_to"):
            writer.line("Repeat the failing order:")
            for command in self._repeating_commands():
                writer.line(f"  {command}")

    def _rerun(self) -> set[str]:
        """Run the failed tests in a new process; return the ids of those that did not pass."""
        reporter = self.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            reporter.section(f"{len(self.first_reports)} failed, and run once more by themselves")
            sys.stdout.flush()
        with tempfile.TemporaryDirectory(prefix="arena-rerun-") as folder:
            result = Path(folder) / "passed.json"
            command = [*self._pytest(), f"--passed-to={result}", "--", *self.first_reports]
            subprocess.run(command, cwd=self.config.rootpath, check=False)
            return self.first_reports.keys() - set(json.loads(result.read_text()) if result.exists() else [])

    def _move_flaky_in_summary(self) -> None:
        reporter = self.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is None:
            return
        for category in ("failed", "error"):
            for report in reporter.stats.pop(category, []):
                now = "flaky" if report.nodeid in self.flaky else category
                reporter.stats.setdefault(now, []).append(report)
        reporter._set_main_color()

    def _repeating_commands(self) -> list[str]:
        """Return a command for each worker with failures, running its tests up to the last failure."""
        folder = self.config.rootpath / "test-results"
        commands = []
        for worker, order in sorted(self.orders.items()):
            failed = [position for position, each in enumerate(order) if each in self.first_reports]
            if not failed:
                continue
            folder.mkdir(exist_ok=True)
            path = folder / f"order{'-' if worker else ''}{worker}.txt"
            path.write_text("".join(f"{each}\n" for each in order[: failed[-1] + 1]))
            commands.append(shlex.join([*self._pytest(), f"--order={path.relative_to(self.config.rootpath)}"]))
        return commands

    def _pytest(self) -> list[str]:
        seed = self.config.getoption("randomly_seed", None)
        with_seed = [f"--randomly-seed={seed}"] if isinstance(seed, int) else []
        marks = self.config.getoption("markexpr")
        with_marks = [] if marks in self.config.getini("addopts") else ["-m", marks]
        python = Path(sys.executable)
        if python.is_relative_to(self.config.rootpath):
            python = python.relative_to(self.config.rootpath)
        return [str(python), "-m", "pytest", "-q", *with_seed, *with_marks]


def _reason(report: pytest.TestReport) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash is not None else report.longreprtext
    return next((line for line in text.splitlines() if line.strip()), "no reason given")
