import hashlib
import os
import stat
import tempfile
from pathlib import Path

from arena_site.embedded.program import CannotStart

# A socket's path may have 107 bytes, of which /postgres/.s.PGSQL.5432 follow the runtime directory.
MAX_RUNTIME_DIR_BYTES = 80


def make_traversable(directory: Path) -> None:
    """Create `directory` with mode 0711: other users may enter it but not list it."""
    directory.mkdir(mode=0o711, parents=True, exist_ok=True)


def make_private(directory: Path) -> None:
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)


def runtime_dir(data_dir: Path) -> Path:
    """Return the directory for sockets, created if missing: a short path derived from the data directory.

    Raises CannotStart when another user owns or can write to it.
    """
    name = f"arena-{os.getuid()}-{hashlib.sha256(bytes(data_dir.resolve())).hexdigest()[:8]}"
    session_dir = os.environ.get("XDG_RUNTIME_DIR", "")
    # PostgreSQL does not run as root: its unprivileged user may not enter root's session directory.
    usable = os.getuid() != 0 and Path(session_dir).is_dir() and 0 < len(session_dir) < MAX_RUNTIME_DIR_BYTES - 20
    directory = Path(session_dir if usable else tempfile.gettempdir(), name)
    if len(bytes(directory)) > MAX_RUNTIME_DIR_BYTES:
        directory = Path("/tmp", name)  # noqa: S108 (its owner and mode are checked below)
    make_traversable(directory)
    status = directory.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o022:
        raise CannotStart(f"{directory} belongs to another user, so the sockets of the arena cannot be put there.")
    return directory
