from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from pathlib import Path
from typing import Any

from arro3.core import Array, DataType, Field, RecordBatch, Schema, list_array
from arro3.io import read_parquet

from leaderboard.exports.columns import CONTEXT, STYLE, Table
from uploads.reading.panics import is_damage

TEXT_LIST = DataType.list(Field("item", DataType.string(), nullable=False))
TIME = DataType.timestamp("us", tz="UTC")
_TYPES = {
    "order": DataType.int64(),
    "created_at": TIME,
    "excluded_at": TIME,
    "categories": TEXT_LIST,
    "turn_count": DataType.int32(),
    "n": DataType.int64(),
    "stars": DataType.int32(),
    "latest": DataType.bool(),
    "withdrawn": DataType.bool(),
    **dict.fromkeys(STYLE, DataType.int32()),
    **{name: DataType.bool() if name.endswith(("_met", "_reasoning")) else DataType.int32() for name in CONTEXT},
}
_MAGIC = b"PAR1"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class NotParquet(ValueError):
    """Raised when the file has another format or is damaged."""


def schema_of(table: Table) -> Schema:
    return Schema([Field(name, _TYPES.get(name, DataType.string())) for name in table.columns])


def record_batch(rows: Sequence[object], table: Table) -> RecordBatch:
    cells = zip(*(table.flat(row) for row in rows), strict=True)
    kinds = [_TYPES.get(name, DataType.string()) for name in table.columns]
    columns = [array_of(list(column), kind) for kind, column in zip(kinds, cells, strict=True)]
    return RecordBatch(columns, schema=schema_of(table))


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


def array_of(column: list[Any], kind: DataType) -> Array:
    """Return an Arrow array of texts, numbers, TEXT_LIST or TIME."""
    if kind == TEXT_LIST:
        ends = Array([0, *accumulate(map(len, column))], type=DataType.int32())
        return list_array(ends, Array([text for texts in column for text in texts], type=DataType.string()), type=kind)
    if kind == TIME:
        moments = [None if moment is None else (moment - _EPOCH) // _MICROSECOND for moment in column]
        return Array(moments, type=DataType.int64()).cast(kind)
    return Array(column, type=kind)
