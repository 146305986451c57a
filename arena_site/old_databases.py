"""Recognize databases and backups of development versions before 0.1.0, whose migrations are gone: docs/adr/0042."""

from collections.abc import Container

_APPLIED_BEFORE = ("accounts", "0001_first")

DATABASE_REFUSAL = (
    "This database was made by a development version before 0.1.0 and cannot be migrated: use it with that version, or "
    "start anew with an empty database (with `make up`: another ARENA_DATA_DIR)."
)
BACKUP_REFUSAL = (
    "The backup was made by a development version before 0.1.0 and cannot be migrated: restore it with that version."
)


def is_from_before_squash(applied_migrations: Container[tuple[str, str]]) -> bool:
    return _APPLIED_BEFORE in applied_migrations
