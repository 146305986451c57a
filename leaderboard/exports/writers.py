import csv
import io
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import IO, TYPE_CHECKING

import msgspec

from leaderboard.boards.csv_file import escape_formula
from leaderboard.exports.columns import VOTES, Table

if TYPE_CHECKING:
    from arro3.core import RecordBatch, Schema

Batches = Iterable[Sequence[object]]

_CHUNK_BYTES = 1 << 16
_QUOTED = re.compile(r"'+")


def as_jsonl(batches: Batches, table: Table = VOTES) -> Iterator[bytes]:
    """Yield one JSON object per line."""
    encoder = msgspec.json.Encoder()
    for rows in batches:
        yield encoder.encode_lines(rows)


def as_csv(batches: Batches, table: Table = VOTES) -> Iterator[bytes]:
    """Yield CSV; categories are separated by semicolons, null is empty.

    Texts that a spreadsheet would run as a formula get a leading quote, as do texts that start with quotes and such a
    formula.
    """
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(table.columns)
    for rows in batches:
        writer.writerows([inert_cell(value) for value in table.flat(row)] for row in rows)
        yield text.getvalue().encode()
        text.seek(0)
        text.truncate()
    yield text.getvalue().encode()


def unquote(cell: str) -> str:
    """Return a cell's original text: the inverse of the quoting in as_csv."""
    return cell[1:] if cell.startswith("'") and _is_formula(cell) else cell


def inert_cell(value: object) -> object:
    match value:
        case str():
            return f"'{value}" if _is_formula(value) else value
        case list():
            return inert_cell(";".join(value))
        case datetime():
            return msgspec.to_builtins(value)
    return value


def _is_formula(text: str) -> bool:
    bare = _QUOTED.sub("", text, count=1) if text.startswith("'") else text
    return bool(escape_formula(bare) != bare)


def as_parquet(batches: Batches, table: Table = VOTES) -> Iterator[bytes]:
    """Yield compressed Parquet. The whole file is written to disk before the first chunk."""
    from leaderboard.exports.parquet import record_batch, schema_of

    return parquet_chunks(schema_of(table), (record_batch(rows, table) for rows in batches))


def parquet_chunks(
    schema: "Schema", batches: "Iterable[RecordBatch]", *, rows_per_group: int = 100_000
) -> Iterator[bytes]:
    """Yield compressed Parquet of record batches; in memory is one group of rows."""
    from arro3.core import RecordBatchReader
    from arro3.io import write_parquet

    with tempfile.TemporaryFile() as file:
        reader = RecordBatchReader.from_batches(schema, batches)
        write_parquet(reader, file, compression="zstd(3)", max_row_group_size=rows_per_group)
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
