"""Making a backup while the arena runs."""

import zipfile
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import IO

import msgspec
from django.conf import settings
from django.core.files.storage import default_storage
from django.db import connection, transaction
from django.db.migrations.recorder import MigrationRecorder

from arena_site.backups import tables
from arena_site.backups.archive import FORMAT, MANIFEST, PIECE, TABLES, UPLOADS, Manifest, Table
from models_registry import encryption


def write_backup(out: IO[bytes]) -> Manifest:
    """Everything as it stands at one moment, and the uploaded files after it.

    `out` need not be seekable. A file deleted meanwhile is missing, and one that came meanwhile has no row: both do no
    harm. The manifest comes last, so a file that was cut short has none.
    """
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        manifest = _write_database(archive)
        manifest.uploads = _write_uploads(archive)
        archive.writestr(MANIFEST, msgspec.json.encode(manifest))
    return manifest


def _write_database(archive: zipfile.ZipFile) -> Manifest:
    names = tables.arena_tables()
    with transaction.atomic():
        tables.see_one_moment(names)
        return _copy_tables(archive, names)


def _copy_tables(archive: zipfile.ZipFile, names: list[str]) -> Manifest:
    manifest = Manifest(
        format=FORMAT,
        made_at=datetime.now(UTC),
        migrations=sorted(MigrationRecorder(connection).applied_migrations()),
        tables={},
        sequences={},
        encryption_keys=[encryption.fingerprint(key) for key in settings.ARENA_ENCRYPTION_KEYS],
        uploads=0,
    )
    for name in names:
        columns = tables.columns_of(name)
        rows = 0
        with archive.open(TABLES + name, "w", force_zip64=True) as member:
            for piece in tables.copy_out(name, columns):
                rows += piece.count(b"\n")
                member.write(piece)
        manifest.tables[name] = Table(columns, rows)
    # Numbers are given out beside transactions: read last, none lies below a row that was copied.
    manifest.sequences = tables.sequences()
    return manifest


def _write_uploads(archive: zipfile.ZipFile) -> int:
    count = 0
    for name in uploaded_files():
        with suppress(FileNotFoundError), default_storage.open(name) as file:
            with archive.open(UPLOADS + name, "w", force_zip64=True) as member:
                for piece in file.chunks(PIECE):
                    member.write(piece)
            count += 1
    return count


def uploaded_files(folder: str = "") -> Iterator[str]:
    """The name of every stored file, wherever the site stores them."""
    try:
        folders, files = default_storage.listdir(folder)
    except FileNotFoundError:  # nothing was uploaded yet
        return
    prefix = f"{folder}/" if folder else ""
    yield from (prefix + name for name in sorted(files))
    for name in sorted(folders):
        yield from uploaded_files(prefix + name)
