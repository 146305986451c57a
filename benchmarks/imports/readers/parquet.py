import io
from collections.abc import Iterator

from arro3.io import read_parquet

from benchmarks.imports.damage import refuse_damage
from benchmarks.imports.limits import MAX_CASES, MAX_COLUMNS
from benchmarks.imports.readers.rows import Row
from benchmarks.imports.readers.values import check_value
from benchmarks.imports.reading_log import Place, ReadError, ReadingLog

MAGIC = b"PAR1"
# Few rows at once: a short file may repeat a long text in each.
_BATCH_ROWS = 200


def read_parquet_rows(content: bytes, log: ReadingLog, file: str = "") -> Iterator[Row]:
    """Yield rows; their number counts as the line. Raises ReadError."""
    number = 0
    with refuse_damage("not_parquet", Place(0, 0, file)):
        for batch in read_parquet(io.BytesIO(content), batch_size=_BATCH_ROWS):
            names = batch.schema.names
            if len(names) > MAX_COLUMNS:
                raise ReadError("too_many_columns", Place(0, 0, file), limit=MAX_COLUMNS, found=len(names))
            columns = {name: position for position, name in enumerate(names, start=1)}
            for cells in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                number += 1
                if number > MAX_CASES:
                    raise ReadError("too_many_cases", Place(number, 0, file), limit=MAX_CASES)
                row = Row(dict(zip(names, map(_plain, cells), strict=True)), number, columns, file)
                for name, value in row.cells.items():
                    check_value(value, row.place(name))
                yield row
    if not number:
        raise ReadError("empty_file", Place(0, 0, file))


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, bytes):
        raise ReadError("bytes_in_a_column")
    return str(value)
