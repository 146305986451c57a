"""Files that management commands write."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from django.core.management.base import CommandError


@contextmanager
def complete_file(file: Path, *, is_private: bool = False) -> Iterator[IO[bytes]]:
    """Open a file under another name, and rename it when it is complete. Raises CommandError.

    is_private: only its owner may read it.
    """
    unfinished = file.with_name(f"{file.name}.part")
    try:
        unfinished.unlink(missing_ok=True)
        mode = 0o600 if is_private else 0o666
        with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as out:
            yield out
        unfinished.replace(file)
    except OSError as error:
        raise CommandError(f"{file} cannot be written: {error.strerror}.") from error
    finally:
        unfinished.unlink(missing_ok=True)
