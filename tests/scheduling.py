"""Distribution and order of tests: few arenas are started and no worker idles."""

import pytest
from xdist.scheduler import LoadScopeScheduling

# Each of these folders has one running arena for all of its files.
FOLDERS_WITH_ONE_ARENA = ("tests/browser/boards/", "tests/browser/local_model/", "tests/faults/")


class SharedArenaScheduling(LoadScopeScheduling):
    """Sends a whole file to one worker, and also a whole folder whose files share an arena."""

    def _split_scope(self, nodeid: str) -> str:
        folders = (folder for folder in FOLDERS_WITH_ONE_ARENA if nodeid.startswith(folder))
        return next(folders, nodeid.split("::", 1)[0])


def start_order(item: pytest.Item) -> int:
    """Sort browser tests before other tests with whole arenas, and all of these before the rest.

    Long files would otherwise keep one worker busy at the end. Browser tests run together, because they share a browser
    and an arena until a test of another package starts.
    """
    if item.get_closest_marker("browser"):
        return 0 if item.nodeid.startswith(FOLDERS_WITH_ONE_ARENA) else 1
    return 2 if item.get_closest_marker("faults") else 3
