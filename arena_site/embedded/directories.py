"""Where an arena keeps its data and its sockets."""

import hashlib
import os
import stat
import tempfile
from pathlib import Path

from arena_site.embedded.program import CannotStart

# A socket's path may have 107 bytes; below the runtime directory come /postgres/.s.PGSQL.5432.
LONGEST_RUNTIME_DIR = 80


def make_traversable(directory: Path) -> None:
    """Create `directory` so that others can pass through but not look around; what is inside decides for itself."""
    directory.mkdir(mode=0o711, parents=True, exist_ok=True)


def make_private(directory: Path) -> None:
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)


def runtime_dir(data_dir: Path) -> Path:
    """The directory of the sockets, made if missing: short, ours alone, and always the same for one data directory.

    Raises CannotStart when somebody else has taken its name.
    """
    name = f"arena-{os.getuid()}-{hashlib.sha256(bytes(data_dir.resolve())).hexdigest()[:8]}"
    session_dir = os.environ.get("XDG_RUNTIME_DIR", "")
    # PostgreSQL of a root user runs as nobody, who may not enter root's session directory.
    usable = os.getuid() != 0 and Path(session_dir).is_dir() and 0 < len(session_dir) < LONGEST_RUNTIME_DIR - 20
    directory = Path(session_dir if usable else tempfile.gettempdir(), name)
    if len(bytes(directory)) > LONGEST_RUNTIME_DIR:
        directory = Path("/tmp", name)  # noqa: S108 (its owner and mode are checked below)
    make_traversable(directory)
    found = directory.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise CannotStart(f"{directory} belongs to somebody else, so the sockets of the arena cannot be put there.")
    return directory
