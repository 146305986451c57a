"""Format of a backup: a ZIP with `manifest.json`, `tables/<name>` and `uploads/<name>`."""

import zipfile
from datetime import datetime

import msgspec

FORMAT = 1
MANIFEST = "manifest.json"
TABLES, UPLOADS = "tables/", "uploads/"
CHUNK_BYTES = 1 << 20


class NotABackup(Exception):
    """Raised when a file is not a backup or is damaged; the message is a sentence for the operator."""


class Table(msgspec.Struct):
    columns: list[str]
    rows: int


class Manifest(msgspec.Struct):
    """Contents of a backup; `encryption_keys` are fingerprints."""

    format: int
    made_at: datetime
    migrations: list[tuple[str, str]]
    tables: dict[str, Table]
    sequences: dict[str, int]
    encryption_keys: list[str]
    uploads: int

    @property
    def rows(self) -> int:
        return sum(table.rows for table in self.tables.values())


def read_manifest(archive: zipfile.ZipFile) -> Manifest:
    try:
        manifest = msgspec.json.decode(archive.read(MANIFEST), type=Manifest)
    except (KeyError, msgspec.DecodeError) as error:
        raise NotABackup("The file is no backup of an arena.") from error
    if manifest.format != FORMAT:
        raise NotABackup("The backup was made by a newer arena than this.")
    return manifest
