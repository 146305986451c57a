import csv
import io
from collections.abc import Iterator, Sequence

from benchmarks.imports.limits import MAX_COLUMNS, MAX_TEXT
from benchmarks.imports.readers.encoding import check_utf8
from benchmarks.imports.readers.rows import Row
from benchmarks.imports.reading_log import Place, ReadError, ReadingLog

_SEPARATORS = ",;\t|"


def read_table(content: bytes, log: ReadingLog, file: str = "") -> Iterator[Row]:
    """Yield the rows under the heading, all cells as texts; the heading decides the separator. Raises ReadError."""
    check_utf8(content, file)
    csv.field_size_limit(MAX_TEXT)
    lines = io.TextIOWrapper(io.BytesIO(content), "utf-8-sig", newline="")
    reader = csv.reader(lines, delimiter=_separator(content, file), strict=True)
    start, names, columns = 1, None, {}
    try:
        for cells in reader:
            line, start = start, reader.line_num + 1
            if not any(cell.strip() for cell in cells):
                continue
            if names is None:
                names = heading(cells, Place(line, 0, file))
                columns = {name: number for number, name in enumerate(names, start=1)}
            elif len(cells) != len(names):
                place = Place(line, min(len(cells), len(names)) + 1, file)
                log.refuse("ragged_row", place, expected=len(names), found=len(cells))
            else:
                yield Row(dict(zip(names, cells, strict=True)), line, columns, file)
    except csv.Error as error:
        if "field limit" in str(error):
            raise ReadError("text_too_long", Place(start, 0, file), limit=MAX_TEXT) from error
        raise ReadError("not_csv", Place(start, 0, file), problem=str(error)) from error
    if names is None:
        raise ReadError("empty_file", Place(0, 0, file))


def heading(cells: Sequence[str], place: Place) -> list[str]:
    """Return the columns' names. Raises ReadError for too many, empty or repeated ones."""
    if len(cells) > MAX_COLUMNS:
        raise ReadError("too_many_columns", place, limit=MAX_COLUMNS, found=len(cells))
    names = [cell.strip() for cell in cells]
    for number, name in enumerate(names, start=1):
        here = Place(place.line, number, place.file)
        if not name:
            raise ReadError("column_without_name", here)
        if name in names[: number - 1]:
            raise ReadError("duplicate_column", here, name=name)
    return names


def _separator(content: bytes, file: str) -> str:
    """Return the separator that gives the heading most cells."""
    if file.lower().endswith(".tsv"):
        return "\t"
    first = io.TextIOWrapper(io.BytesIO(content[: MAX_TEXT * 4]), "utf-8-sig", errors="replace", newline="")
    line = next((line for line in first if line.strip()), "")
    return max(_SEPARATORS, key=lambda separator: len(next(csv.reader([line], delimiter=separator), [])))
