import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from django.core.exceptions import ImproperlyConfigured
from django.core.files.base import File
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder
from psycopg.errors import InsufficientPrivilege

from accounts import audit
from accounts.models import User
from arena_site.backups import tables
from arena_site.backups.archive import CHUNK_BYTES, TABLES, UPLOADS, Manifest, NotABackup, open_backup
from arena_site.backups.writing import uploaded_files
from arena_site.operations.activity import forget_activity
from arena_site.other_databases import BACKUP_REFUSAL, is_of_development_version
from arena_site.version import this_version
from battles.models import Session
from leaderboard.models import ImportedBoard
from models_registry import encryption
from models_registry.models import Provider

NOT_THE_OWNER = (
    "This database's role may not make or empty tables: restore as their owner, with compose by "
    "`docker compose run --rm -T prepare python manage.py restore - < FILE`."
)


class CannotRestore(Exception):
    """Raised when nothing was restored; the message is a sentence for the operator."""


def restore_backup(file: IO[bytes], *, name: str, forget_unreadable_keys: bool = False) -> Manifest:
    """Restore the database and the uploaded files, all or nothing.

    A database without tables is migrated to the backup's migrations, filled, and migrated on; one with tables must have
    these migrations already. `forget_unreadable_keys` deletes provider keys that ARENA_ENCRYPTION_KEYS does not
    decrypt. `file` is seekable; `name` goes to the audit log. Raises CannotRestore and NotABackup.
    """
    with open_backup(file, name=name) as (archive, manifest):
        _refuse_if_in_use()
        try:
            with _created_tables_dropped_on_failure():
                _migrate_to(manifest)
                _load(archive, manifest, forget_unreadable_keys)
        except DatabaseError as error:
            if _lacks_rights(error):
                raise CannotRestore(NOT_THE_OWNER) from error
            raise
    call_command("migrate", interactive=False, verbosity=0)
    forget_activity()
    audit.record(None, "restore", name, made_at=manifest.made_at)
    return manifest


@contextmanager
def _created_tables_dropped_on_failure() -> Iterator[None]:
    # A database with tables would accept fewer backups.
    was_empty = not connection.introspection.table_names()
    try:
        yield
    except BaseException:
        if was_empty:
            tables.drop_everything()
        raise


def _load(archive: zipfile.ZipFile, manifest: Manifest, forget_unreadable_keys: bool) -> None:
    """Load tables and uploads.

    The tables may be older than the models, so queries here name the few columns that they need.
    """
    stored: list[str] = []
    try:
        with transaction.atomic():
            _refuse_if_in_use()  # again: within the transaction that empties the tables
            _load_tables(archive, manifest)
            _check_provider_keys(manifest, forget_unreadable_keys)
            for member in archive.namelist():
                if member.startswith(UPLOADS):
                    with archive.open(member) as upload:
                        stored.append(default_storage.save(member.removeprefix(UPLOADS), File(upload)))
    except BaseException:
        for name in stored:
            default_storage.delete(name)
        raise


def _migrate_to(manifest: Manifest) -> None:
    """Apply the backup's migrations to an empty database. Raises CannotRestore when another one differs."""
    if is_of_development_version(manifest.migrations):
        raise CannotRestore(BACKUP_REFUSAL)
    executor = MigrationExecutor(connection)
    if unknown := sorted(set(manifest.migrations) - set(executor.loader.disk_migrations)):
        raise CannotRestore(
            f"The backup was made by {manifest.origin}, which has {len(unknown)} migrations that this arena, "
            f"{this_version()}, does not know ({'.'.join(unknown[0])}): restore it with that version or a newer one."
        )
    if not connection.introspection.table_names():
        everything = executor.migration_plan(executor.loader.graph.leaf_nodes())
        executor.migrate(
            None, [step for step in everything if (step[0].app_label, step[0].name) in manifest.migrations]
        )
    elif set(MigrationRecorder(connection).applied_migrations()) != set(manifest.migrations):
        raise CannotRestore(
            f"The backup was made by {manifest.origin}, and this database was prepared by another one; this is "
            f"{this_version()}: restore into a database without tables, with `make up` by `make restore FILE=…` and "
            "another ARENA_DATA_DIR, with compose before the first start (docs/operating.md, Backup and restore)."
        )


def _refuse_if_in_use() -> None:
    """Raise CannotRestore where data would be lost.

    Rows that a start creates may be overwritten: models of the models file, an administrator who never signed in.
    """
    contents = {
        "people": User.objects.exclude(is_superuser=True, last_login=None),
        "conversations": Session.objects.all(),
        "imported boards": ImportedBoard.objects.all(),
        "provider keys": Provider.of_every_owner.exclude(key_encrypted=None),
    }
    existing = connection.introspection.table_names()
    lost = [name for name, rows in contents.items() if rows.model._meta.db_table in existing and rows.exists()]
    if next(uploaded_files(), None):
        lost.append("uploads")
    if lost:
        raise CannotRestore(f"This arena is in use: it has {', '.join(lost)}. A backup goes into an empty one only.")


def _load_tables(archive: zipfile.ZipFile, manifest: Manifest) -> None:
    """Copy the tables in any order; what one row demands of another is checked at the end."""
    try:
        tables.defer_constraints()
        tables.empty([table for table in connection.introspection.table_names() if table in manifest.tables])
        for name, table in manifest.tables.items():
            with archive.open(TABLES + name) as member:
                rows = tables.copy_in(name, table.columns, iter(lambda: member.read(CHUNK_BYTES), b""))
            if rows != table.rows:
                raise NotABackup(f"The backup is damaged: {name} has {rows:,} rows and should have {table.rows:,}.")
        for sequence, last in manifest.sequences.items():
            tables.set_sequence(sequence, last)
        connection.check_constraints()
    except DatabaseError as error:
        if _lacks_rights(error):
            raise
        raise NotABackup(f"The backup is damaged: {' '.join(str(error).split())}.") from error


def _lacks_rights(error: BaseException | None) -> bool:
    while error is not None and not isinstance(error, InsufficientPrivilege):
        error = error.__cause__ or error.__context__
    return error is not None


def _check_provider_keys(manifest: Manifest, forget_unreadable_keys: bool) -> None:
    """Raise CannotRestore for stored keys that cannot be decrypted, or clear them."""
    with_keys = Provider.of_every_owner.exclude(key_encrypted=None)
    stored = with_keys.values_list("pk", "key_encrypted")
    unreadable = [pk for pk, key in stored if key is not None and not _is_readable(bytes(key))]
    if unreadable and not forget_unreadable_keys:
        raise CannotRestore(
            f"ARENA_ENCRYPTION_KEYS does not decrypt the keys of {len(unreadable)} providers. The backup was made with "
            f"the encryption keys whose fingerprints are {', '.join(manifest.encryption_keys)}: set them here, or say "
            "--forget-unreadable-keys and enter the providers' keys again."
        )
    with_keys.filter(pk__in=unreadable).update(key_encrypted=None, key_last_four="", key_fingerprint="")


def _is_readable(key: bytes) -> bool:
    try:
        encryption.decrypt(key)
    except (encryption.KeyUnreadable, ImproperlyConfigured):
        return False
    return True
