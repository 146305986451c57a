"""Format of a backup: a ZIP with `manifest.json`, `tables/<name>` and `uploads/<name>`."""

import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from typing import IO

import msgspec
from django.core.files.utils import validate_file_name

from arena_site.version import this_version, version_name

FORMAT = 1
MANIFEST = "manifest.json"
TABLES, UPLOADS = "tables/", "uploads/"
CHUNK_BYTES = 1 << 20


class NotABackup(Exception):
    """Raised when a file is not a backup or is damaged; the message is a sentence for the operator."""


class Table(msgspec.Struct):
    columns: list[str]
    rows: int


class Origin(msgspec.Struct, kw_only=True):
    """Maker of a backup, in manifests of all formats."""

    format: int
    version: str = ""
    commit: str = ""

    @property
    def origin(self) -> str:
        return version_name(self.version, self.commit)


class Manifest(Origin, kw_only=True):
    """Contents of a backup; `encryption_keys` are fingerprints."""

    made_at: datetime
    migrations: list[tuple[str, str]]
    tables: dict[str, Table]
    sequences: dict[str, int]
    encryption_keys: list[str]
    uploads: int

    @property
    def rows(self) -> int:
        return sum(table.rows for table in self.tables.values())


@contextmanager
def open_backup(file: IO[bytes], *, name: str) -> Iterator[tuple[zipfile.ZipFile, Manifest]]:
    """Yield a backup whose checksums and members are right. Raises NotABackup, and OSError when it cannot be read."""
    with ExitStack() as stack:
        try:
            archive = stack.enter_context(zipfile.ZipFile(file))
            manifest = _read_manifest(archive, name)
            _check_members(archive, manifest)
        except NotABackup:
            raise
        except Exception as error:  # zipfile raises a dozen kinds for damaged files
            if isinstance(error, OSError) and error.errno:
                raise
            raise NotABackup(f"{name} is no backup, or it is damaged: {error or type(error).__name__}.") from error
        yield archive, manifest


def _read_manifest(archive: zipfile.ZipFile, name: str) -> Manifest:
    try:
        content = archive.read(MANIFEST)
        maker = msgspec.json.decode(content, type=Origin)
        if maker.format != FORMAT:
            raise NotABackup(
                f"The backup was made by a newer arena, {maker.origin}, and this is {this_version()}: restore it with "
                "that version."
            )
        return msgspec.json.decode(content, type=Manifest)
    except KeyError as error:
        raise NotABackup(f"{name} is no backup of an arena: it has no {MANIFEST}.") from error
    except msgspec.DecodeError as error:
        raise NotABackup(f"{name} is no backup of an arena, or it is damaged: {MANIFEST} cannot be read.") from error


def _check_members(archive: zipfile.ZipFile, manifest: Manifest) -> None:
    if damaged := archive.testzip():
        raise NotABackup(f"The backup is damaged: the content of {damaged} is not the one that was written.")
    names = set(archive.namelist())
    if missing := [table for table in manifest.tables if TABLES + table not in names]:
        raise NotABackup(f"The backup is damaged: the table {missing[0]} is missing.")
    uploads = [name.removeprefix(UPLOADS) for name in names if name.startswith(UPLOADS)]
    if len(uploads) != manifest.uploads:
        raise NotABackup(
            f"The backup is damaged: it has {len(uploads):,} uploads and should have {manifest.uploads:,}."
        )
    for upload in uploads:
        validate_file_name(upload, allow_relative_path=True)
