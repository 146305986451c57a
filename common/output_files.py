"""Files that management commands write."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from django.core.management.base import CommandError


@contextmanager
def complete_file(file: Path) -> Iterator[IO[bytes]]:
    """Open a file under another name, and rename it when it is complete. Raises CommandError."""
    unfinished = file.with_name(f"{file.name}.part")
    try:
        with unfinished.open("wb") as out:
            yield out
        unfinished.replace(file)
    except OSError as error:
        raise CommandError(f"{file} cannot be written: {error.strerror}.") from error
    finally:
        unfinished.unlink(missing_ok=True)
