from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from arena_site.embedded.program import Program
from arena_site.supervisor.child import Child


@contextmanager
def running(program: Program, logs: Path) -> Iterator[None]:
    """Start a program, wait until it is ready, and stop it afterwards."""
    child = Child(program, logs)
    try:
        child.wait_until_ready(within=120)
        yield
    finally:
        child.stop(within=10)
