"""`python -m arena_site.supervisor`: run an arena, `stop` one, `restore` a FILE, or write a unit for the `service`.

`container` runs one as the image arena-all does.
"""

import shutil
import signal
import sys
from pathlib import Path

from arena_site.embedded.directories import runtime_dir
from arena_site.embedded.program import CannotStart
from arena_site.supervisor import leftovers
from arena_site.supervisor.launcher import Launcher, StopRequested
from arena_site.supervisor.site import Site
from arena_site.supervisor.systemd_unit import write_unit
from arena_site.supervisor.terminal import echo

STOP_TIMEOUT_S = 15


def up(*, in_container: bool = False) -> None:
    """Run an arena until Ctrl-C or SIGTERM. Raises CannotStart."""
    try:
        Launcher(Site.from_environment(in_container=in_container)).run()
    except StopRequested:
        echo("Arena stopped.")


def restore(file: str) -> None:
    """Restore a backup into an arena that does not run. Raises CannotStart."""
    try:
        Launcher(Site.from_environment()).restore(Path(file))
    except StopRequested as error:
        raise CannotStart("Stopped. Nothing was restored.") from error


def upgrade(programs: str) -> None:
    """Load the database of an older PostgreSQL. Raises CannotStart."""
    try:
        Launcher(Site.from_environment()).upgrade_database(Path(programs) if programs else None)
    except StopRequested as error:
        raise CannotStart("Stopped. Nothing was changed.") from error


def stop() -> None:
    """Stop the arena. Raises CannotStart when a running launcher cannot be stopped."""
    data_dir = Site.from_environment().data_dir
    launcher = leftovers.running_launcher(data_dir)
    if launcher is not None:
        launcher.send(signal.SIGTERM)
        if not leftovers.wait_for_end([launcher], within=STOP_TIMEOUT_S):
            launcher.send(signal.SIGKILL)
            leftovers.wait_for_end([launcher], within=1)
    if not data_dir.exists():
        echo("Nothing was running.")
        return
    with leftovers.acquire_lock(data_dir):
        count = leftovers.stop_leftovers(data_dir)
        shutil.rmtree(runtime_dir(data_dir), ignore_errors=True)
    echo("Arena stopped." if launcher or count else "Nothing was running.")


def main() -> int:
    try:
        match sys.argv[1:]:
            case ["stop"]:
                stop()
            case ["restore", file]:
                restore(file)
            case ["upgrade-database", programs]:
                upgrade(programs)
            case ["container"]:
                up(in_container=True)
            case ["service"]:
                write_unit()
            case _:
                up()
    except CannotStart as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:  # a full disk, or one that cannot be written to
        print(f"The arena cannot start: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
