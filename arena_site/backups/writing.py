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
from arena_site.backups.archive import CHUNK_BYTES, FORMAT, MANIFEST, TABLES, UPLOADS, Manifest, Table
from arena_site.version import VERSION, commit
from models_registry import encryption


def write_backup(out: IO[bytes]) -> Manifest:
    """Write one snapshot of the database, then the uploaded files, then the manifest.

    `out` need not be seekable. Files deleted meanwhile are missing, new ones have no row. A truncated backup has no
    manifest.
    """
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        manifest = _write_database(archive)
        manifest.uploads = _write_uploads(archive)
        archive.writestr(MANIFEST, msgspec.json.encode(manifest))
    return manifest


def _write_database(archive: zipfile.ZipFile) -> Manifest:
    names = tables.arena_tables()
    with transaction.atomic():
        tables.begin_snapshot(names)
        return _copy_tables(archive, names)


def _copy_tables(archive: zipfile.ZipFile, names: list[str]) -> Manifest:
    manifest = Manifest(
        format=FORMAT,
        version=VERSION,
        commit=commit(),
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
            for chunk in tables.copy_out(name, columns):
                rows += chunk.count(b"\n")
                member.write(chunk)
        manifest.tables[name] = Table(columns, rows)
    # Sequences do not follow transactions: read last, none is behind a copied row.
    manifest.sequences = tables.sequences()
    return manifest


def _write_uploads(archive: zipfile.ZipFile) -> int:
    count = 0
    for name in uploaded_files():
        with suppress(FileNotFoundError), default_storage.open(name) as file:
            with archive.open(UPLOADS + name, "w", force_zip64=True) as member:
                for chunk in file.chunks(CHUNK_BYTES):
                    member.write(chunk)
            count += 1
    return count


def uploaded_files(folder: str = "") -> Iterator[str]:
    """Yield the names of stored files, from the directory or the bucket."""
    try:
        folders, files = default_storage.listdir(folder)
    except FileNotFoundError:  # nothing was uploaded yet
        return
    prefix = f"{folder}/" if folder else ""
    yield from (prefix + name for name in sorted(files))
    for name in sorted(folders):
        yield from uploaded_files(prefix + name)
