import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from benchmarks.exports.matrix import matrix_header, matrix_rows
from benchmarks.exports.run_export import RunExport
from leaderboard.exports.writers import inert_cell

_ROWS_PER_CHUNK = 500


def as_csv(export: RunExport) -> Iterator[bytes]:
    """Yield a row per item or, if wide, per case and repeat. Formulas get a leading quote."""
    if export.is_wide:
        return _written(matrix_header(export), matrix_rows(export))
    columns = export.columns
    return _written(columns.names, (columns.cells(row) for row in chain.from_iterable(export.batches())))


def _written(header: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[bytes]:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([inert_cell(name) for name in header])
    for number, row in enumerate(rows, start=1):
        writer.writerow([inert_cell(_plain(value)) for value in row])
        if number % _ROWS_PER_CHUNK == 0:
            yield _taken(text)
    yield _taken(text)


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def _taken(text: io.StringIO) -> bytes:
    content = text.getvalue().encode()
    text.seek(0)
    text.truncate()
    return content
