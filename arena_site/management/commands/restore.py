import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from arena_site.backups.archive import NotABackup
from arena_site.backups.restoring import CannotRestore, restore_backup
from arena_site.embedded.program import CANNOT_START_STATUS


class Command(BaseCommand):
    help = "Restore a backup into an unused arena, or into a database without tables."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="a file that `backup` wrote; - is standard input")
        parser.add_argument(
            "--forget-unreadable-keys",
            action="store_true",
            help="restore without the provider keys that ARENA_ENCRYPTION_KEYS does not decrypt",
        )

    def handle(self, *args: object, file: Path, forget_unreadable_keys: bool, **options: object) -> None:
        try:
            with open_seekable(file) as backup:
                manifest = restore_backup(backup, name=file.name, forget_unreadable_keys=forget_unreadable_keys)
        except (CannotRestore, NotABackup) as error:
            raise CommandError(f"{error} Nothing was restored.", returncode=CANNOT_START_STATUS) from error
        except OSError as error:
            raise CommandError(f"{file} cannot be read: {error.strerror}.", returncode=CANNOT_START_STATUS) from error
        self.stdout.write(
            f"Back as of {manifest.made_at:%Y-%m-%d %H:%M} UTC: {manifest.rows:,} rows, {manifest.uploads:,} uploads."
        )


@contextmanager
def open_seekable(file: Path) -> Iterator[IO[bytes]]:
    """Open the file; a ZIP is read from its end, so copy standard input to a temporary file first.

    The copy is beside the uploads, where there is room for them.
    """
    if str(file) != "-":
        with file.open("rb") as backup:
            yield backup
        return
    Path(settings.MEDIA_ROOT).mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=settings.MEDIA_ROOT) as backup:
        shutil.copyfileobj(sys.stdin.buffer, backup)
        yield backup
