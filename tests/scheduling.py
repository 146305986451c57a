"""Pytest plugin for distribution and order of tests: few arenas are started and no worker idles."""

from functools import cached_property
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

# Each of these folders has one running arena for all of its files.
FOLDERS_WITH_ONE_ARENA = ("tests/browser/boards/", "tests/browser/local_model/", "tests/faults/")
# Other browser tests, which share a browser and an arena in each worker: more workers would start more of both.
BROWSER_TESTS, BROWSER_WORKERS = "tests/browser/", 2


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling | None:
    return SharedArenaScheduling(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_itemcollected(item: pytest.Item) -> None:
    database = item.get_closest_marker("django_db")
    if database is not None and database.kwargs.get("transaction"):
        item.add_marker("commits")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run tests with whole arenas first, grouped by shared arena; otherwise keep the random order."""
    long_files = {item.path for item in items if any(map(item.get_closest_marker, ("slow", "processes")))}
    with_database = {item.path for item in items if item.get_closest_marker("django_db")}
    items.sort(
        key=lambda item: start_order(
            item, is_in_long_file=item.path in long_files, needs_database=item.path in with_database
        )
    )


class SharedArenaScheduling(LoadScopeScheduling):
    """Sends a whole file to one worker, and also all files that share an arena."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.split("::", 1)[0]
        if folder := next(filter(file.startswith, FOLDERS_WITH_ONE_ARENA), ""):
            return folder
        if file.startswith(BROWSER_TESTS):
            return f"{BROWSER_TESTS} {self._browser_files.index(file) % BROWSER_WORKERS}"
        return file

    @cached_property
    def _browser_files(self) -> list[str]:
        files = {nodeid.split("::", 1)[0] for nodeid in self.collection or ()}
        return sorted(file for file in files if file.startswith(BROWSER_TESTS))

    def _assign_work_unit(self, node: WorkerController) -> None:
        """Give the last worker files from the end of the queue: they compute while tests with whole arenas wait."""
        if len(self.nodes) > 1 and node is self.nodes[-1]:
            self.workqueue.move_to_end(next(reversed(self.workqueue)), last=False)
        super()._assign_work_unit(node)


def start_order(item: pytest.Item, *, is_in_long_file: bool, needs_database: bool) -> int:
    """Sort tests with whole arenas first, among them those of a fresh arena, then those that kill programs.

    Browser tests stay together to share a browser and an arena.
    """
    fixtures = getattr(item, "fixturenames", ())
    if "fresh_arena" in fixtures and "arena" not in fixtures:
        return -1
    if item.nodeid.startswith(FOLDERS_WITH_ONE_ARENA) and item.get_closest_marker("browser"):
        return 0
    if item.get_closest_marker("faults"):
        return 1
    if item.get_closest_marker("browser"):
        return 2
    # The last worker begins here, and the workers meet in short files, so that all end at about the same time.
    if is_in_long_file:
        return 5
    # The last worker of `make test-quick` begins with files without a database, while another one migrates it.
    return 3 if needs_database else 4
