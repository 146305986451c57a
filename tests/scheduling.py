"""Which tests share a worker and in which order they run, so that few arenas are started and no worker idles."""

import pytest
from xdist.scheduler import LoadScopeScheduling

# Each of these folders has one running arena for all of its files.
FOLDERS_WITH_ONE_ARENA = ("tests/browser/boards/", "tests/browser/local_model/", "tests/faults/")


class SharedArenaScheduling(LoadScopeScheduling):
    """Send a file to one worker as a whole, and so a folder whose files share an arena."""

    def _split_scope(self, nodeid: str) -> str:
        folders = (folder for folder in FOLDERS_WITH_ONE_ARENA if nodeid.startswith(folder))
        return next(folders, nodeid.split("::", 1)[0])


def start_order(item: pytest.Item) -> int:
    """Sort browser tests before other tests with whole arenas, and all these before the rest.

    The long files would otherwise keep one worker busy at the end, and the package of browser tests shares a browser
    and an arena until a test of another package begins.
    """
    if item.get_closest_marker("browser"):
        return 0 if item.nodeid.startswith(FOLDERS_WITH_ONE_ARENA) else 1
    return 2 if item.get_closest_marker("faults") else 3
