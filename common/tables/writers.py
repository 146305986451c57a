import csv
import io
import tempfile
from collections.abc import Callable, Iterator
from typing import IO

import msgspec

from common.tables.cells import inert_cell
from common.tables.table import Batches, Table

_CHUNK_BYTES = 1 << 16


def as_jsonl(batches: Batches, table: Table) -> Iterator[bytes]:
    encoder = msgspec.json.Encoder()
    for rows in batches:
        yield encoder.encode_lines(rows)


def as_csv(batches: Batches, table: Table) -> Iterator[bytes]:
    """Yield CSV; categories are separated by semicolons, null is empty.

    Texts that a spreadsheet would run as a formula get a leading quote, as do texts that start with quotes and such a
    formula.
    """
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(map(inert_cell, table.columns))
    for rows in batches:
        writer.writerows(map(inert_cell, table.cells(row)) for row in rows)
        yield text.getvalue().encode()
        text.seek(0)
        text.truncate()
    yield text.getvalue().encode()


def as_parquet(batches: Batches, table: Table, *, rows_per_group: int = 100_000) -> Iterator[bytes]:
    """Yield compressed Parquet. The whole file is written to disk before the first chunk."""
    from common.tables.parquet import write_file  # its library takes time to import

    with tempfile.TemporaryFile() as file:
        write_file(file, batches, table, rows_per_group=rows_per_group)
        file.seek(0)
        yield from file_chunks(file)


def file_chunks(file: IO[bytes]) -> Iterator[bytes]:
    while chunk := file.read(_CHUNK_BYTES):
        yield chunk


WRITERS: dict[str, Callable[[Batches, Table], Iterator[bytes]]] = {
    "jsonl": as_jsonl,
    "csv": as_csv,
    "parquet": as_parquet,
}
CONTENT_TYPES = {
    "jsonl": "application/jsonl",
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
}
