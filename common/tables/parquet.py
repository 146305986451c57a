from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from pathlib import Path
from typing import IO, Any

from arro3.core import Array, DataType, Field, RecordBatch, RecordBatchReader, Schema, list_array
from arro3.io import read_parquet, write_parquet

from common.panics import is_damage
from common.tables.table import Batches, Kind, Table

_TEXTS = DataType.list(Field("item", DataType.string(), nullable=False))
_TIME = DataType.timestamp("us", tz="UTC")
_TYPES: dict[Kind, DataType] = {
    "text": DataType.string(),
    "texts": _TEXTS,
    "int32": DataType.int32(),
    "int64": DataType.int64(),
    "float64": DataType.float64(),
    "bool": DataType.bool(),
    "time": _TIME,
}
_MAGIC = b"PAR1"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class NotParquet(ValueError):
    """Raised when the file has another format or is damaged."""


def write_file(file: IO[bytes], batches: Batches, table: Table, *, rows_per_group: int) -> None:
    """Write compressed Parquet; in memory is one group of rows."""
    types = [_TYPES[table.kinds.get(name, "text")] for name in table.columns]
    schema = Schema([Field(name, kind) for name, kind in zip(table.columns, types, strict=True)])

    def record_batch(rows: Sequence[object]) -> RecordBatch:
        columns = zip(*map(table.cells, rows), strict=True)
        return RecordBatch([_array(column, kind) for kind, column in zip(types, columns, strict=True)], schema=schema)

    reader = RecordBatchReader.from_batches(schema, map(record_batch, batches))
    write_parquet(reader, file, compression="zstd(3)", max_row_group_size=rows_per_group)


def read_rows(path: Path) -> Iterator[dict[str, object]]:
    """Yield each row's cells by column. Raises NotParquet and OSError."""
    with path.open("rb") as file:
        if file.read(4) != _MAGIC:
            raise NotParquet("it does not begin like Parquet")
    for batch in _batches(path):
        names = batch.schema.names
        columns = [column.to_pylist() for column in batch.columns]
        for cells in zip(*columns, strict=True):
            yield dict(zip(names, cells, strict=True))


def _batches(path: Path) -> Iterator[RecordBatch]:
    try:
        yield from read_parquet(path, batch_size=10_000)
    except BaseException as error:
        if isinstance(error, OSError | MemoryError) or not is_damage(error):
            raise
        raise NotParquet("it is damaged") from error


def _array(column: Sequence[Any], kind: DataType) -> Array:
    if kind == _TEXTS:
        ends = Array([0, *accumulate(map(len, column))], type=DataType.int32())
        return list_array(ends, Array([text for texts in column for text in texts], type=DataType.string()), type=kind)
    if kind == _TIME:
        moments = [None if moment is None else (moment - _EPOCH) // _MICROSECOND for moment in column]
        return Array(moments, type=DataType.int64()).cast(kind)
    return Array(list(column), type=kind)
