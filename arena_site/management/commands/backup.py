import os
import sys
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from accounts import audit
from arena_site.backups.archive import Manifest
from arena_site.backups.writing import write_backup
from arena_site.operations.first_steps import BACKUP


class Command(BaseCommand):
    help = "Write the database as it stands at one moment, and the uploads, to a file that `restore` reads."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="a new file, readable by its owner only; - is standard output")

    def handle(self, *args: object, file: Path, **options: object) -> None:
        manifest = write_backup(sys.stdout.buffer) if str(file) == "-" else _write(file)
        self._record(manifest)
        self.stderr.write(
            f"{manifest.rows:,} rows of {len(manifest.tables)} tables and {manifest.uploads:,} uploads. SECRET_KEY and "
            "ARENA_ENCRYPTION_KEYS are not in it: keep a copy of them elsewhere."
        )

    def _record(self, manifest: Manifest) -> None:
        """Let the administration tell how old the newest backup is."""
        try:
            audit.record(None, BACKUP, "database and uploads", rows=manifest.rows, uploads=manifest.uploads)
        except DatabaseError as error:
            self.stderr.write(f"The backup is complete, but not in the audit log: {error}")


def _write(file: Path) -> Manifest:
    """Write under another name; rename the complete file."""
    if file.exists():
        raise CommandError(f"{file} exists: a backup overwrites nothing.")
    unfinished = file.with_name(f"{file.name}.part")
    try:
        unfinished.unlink(missing_ok=True)
        with os.fdopen(os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
            manifest = write_backup(out)
            out.flush()
            os.fsync(out.fileno())
        unfinished.rename(file)
    except OSError as error:
        raise CommandError(f"{file} cannot be written: {error.strerror}.") from error
    finally:
        unfinished.unlink(missing_ok=True)
    return manifest
