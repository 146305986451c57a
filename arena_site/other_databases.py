"""Recognize databases and backups that this version of the arena cannot use."""

from collections.abc import Iterable
from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from arena_site.version import this_version
from uploads.files import storage

# Every database of a development version before 0.1.0 has applied one of these; both are gone (docs/adr/0072).
_DEVELOPMENT_MIGRATIONS = {("accounts", "0001_first"), ("accounts", "0001_initial")}

DATABASE_REFUSAL = (
    "This database was made by a development version before 0.1.0 and cannot be migrated: use it with that version, or "
    "start anew with an empty database (with `make up`: another ARENA_DATA_DIR)."
)
BACKUP_REFUSAL = (
    "The backup was made by a development version before 0.1.0 and cannot be migrated: restore it with that version."
)


class CannotUseDatabase(Exception):
    """The message is a sentence for the operator."""


def check_database(loader: MigrationLoader) -> None:
    """Raise CannotUseDatabase for a database of another version, or an empty one beside stored files."""
    if is_of_development_version(loader.applied_migrations):
        raise CannotUseDatabase(DATABASE_REFUSAL)
    if unknown := sorted(_own(loader.applied_migrations) - set(loader.disk_migrations)):
        raise CannotUseDatabase(
            f"This database was migrated by a newer arena than this, {this_version()}: it has {len(unknown)} "
            f"migrations unknown here ({'.'.join(unknown[0])}). Use that version or a newer one, or restore a backup "
            "of this one into another database."
        )
    if not connection.introspection.table_names() and not storage.is_empty():
        raise CannotUseDatabase(
            "The database is empty, but files of an arena are stored: use the database they belong to, or move them "
            "elsewhere; a backup brings its own (docs/operating.md, Files)."
        )


def is_of_development_version(migrations: Iterable[tuple[str, str]]) -> bool:
    return not _DEVELOPMENT_MIGRATIONS.isdisjoint(migrations)


def _own(migrations: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return those of the arena's apps; other packages may drop theirs."""
    own = {config.label for config in apps.get_app_configs() if Path(config.path).parent == settings.BASE_DIR}
    return {migration for migration in migrations if migration[0] in own}
