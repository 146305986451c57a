from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.exports.columns import row_of
from benchmarks.exports.run_export import RunExport
from benchmarks.statistics.rows import ItemRow
from leaderboard.exports.writers import parquet_chunks

if TYPE_CHECKING:
    from arro3.core import DataType

# Rows with their replies, in memory until they are written.
ROWS_PER_GROUP = 10_000
_NUMBERS = {"case_weight", "relevant_difference", "score", "cost", "lost_cost"}
_INTEGERS = {
    "repeat", "prompt_tokens", "completion_tokens", "reasoning_tokens", "lost_calls", "first_token_ms", "total_ms",
    "attempts",
}  # fmt: skip
_FLAGS = {"is_baseline", "passed", "reused"}


def as_parquet(export: RunExport) -> Iterator[bytes]:
    """Yield a file that is written to disk before the first chunk."""
    from arro3.core import Field, RecordBatch, Schema

    from leaderboard.exports.parquet import array_of

    columns = export.columns
    kinds = [_type(name) for name in columns.names]
    schema = Schema([Field(name, kind) for name, kind in zip(columns.names, kinds, strict=True)])

    def record_batch(rows: Sequence[ItemRow]) -> RecordBatch:
        cells = zip(*map(columns.cells, rows), strict=True)
        arrays = [array_of(list(column), kind) for kind, column in zip(kinds, cells, strict=True)]
        return RecordBatch(arrays, schema=schema)

    batches = (record_batch(rows) for rows in export.batches())
    return parquet_chunks(schema, batches, rows_per_group=ROWS_PER_GROUP)


def read_parquet(path: Path) -> Iterator[ItemRow]:
    """Raises NotParquet, msgspec.ValidationError, KeyError and OSError."""
    from leaderboard.exports.parquet import read_rows

    return (row_of(cells) for cells in read_rows(path))


def _type(column: str) -> "DataType":
    from arro3.core import DataType

    from leaderboard.exports.parquet import TEXT_LIST, TIME

    name = column.rpartition(".")[2] if column.startswith("check.") else column
    if name in _NUMBERS or (column != name and name in ("value", "weight")):
        return DataType.float64()
    if name in _INTEGERS:
        return DataType.int64()
    if name in _FLAGS:
        return DataType.bool()
    return {"tags": TEXT_LIST, "started_at": TIME}.get(name, DataType.string())
