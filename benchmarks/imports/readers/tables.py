import csv
import io
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import TypeVar

from benchmarks.imports.limits import MAX_COLUMNS, MAX_TEXT
from benchmarks.imports.readers.encoding import check_utf8
from benchmarks.imports.readers.rows import Row
from benchmarks.imports.readers.values import as_text
from benchmarks.imports.reading_log import Place, ReadError, ReadingLog

_SEPARATORS = ",;\t|"
MAX_TITLES = 5

Cell = TypeVar("Cell")


def read_table(content: bytes, log: ReadingLog, file: str = "") -> Iterator[Row]:
    """Yield the rows under the heading, all cells as texts; the heading decides the separator. Raises ReadError."""
    check_utf8(content, file)
    csv.field_size_limit(MAX_TEXT)
    names: list[str] = []
    columns: dict[str, int] = {}
    heading_line = 1
    for line, cells in from_heading(_lines(content, file), log, file):
        if not names:
            names, heading_line = heading(cells, Place(line, 0, file)), line
            columns = {name: number for number, name in enumerate(names, start=1)}
        elif len(cells) != len(names):
            place = Place(line, min(len(cells), len(names)) + 1, file)
            log.refuse("ragged_row", place, expected=len(names), found=len(cells))
        else:
            yield Row(dict(zip(names, cells, strict=True)), line, columns, file, heading_line)
    if not names:
        raise ReadError("empty_file", Place(0, 0, file))


def _lines(content: bytes, file: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the first line and the cells of each row. Raises ReadError."""
    lines = io.TextIOWrapper(io.BytesIO(content), "utf-8-sig", newline="")
    reader = csv.reader(lines, delimiter=_separator(content, file), strict=True)
    start = 1
    try:
        for cells in reader:
            line, start = start, reader.line_num + 1
            yield line, cells
    except csv.Error as error:
        if "field limit" in str(error):
            raise ReadError("text_too_long", Place(start, 0, file), limit=MAX_TEXT) from error
        raise ReadError("not_csv", Place(start, 0, file), problem=str(error)) from error


def _separator(content: bytes, file: str) -> str:
    """Return the separator that gives the heading most cells."""
    if file.lower().endswith(".tsv"):
        return "\t"
    first = io.TextIOWrapper(io.BytesIO(content[: MAX_TEXT * 4]), "utf-8-sig", errors="replace", newline="")
    line = next((line for line in first if line.strip()), "")
    return max(_SEPARATORS, key=lambda separator: len(next(csv.reader([line], delimiter=separator), [])))


def from_heading(
    lines: Iterator[tuple[int, Sequence[Cell]]], log: ReadingLog, file: str
) -> Iterator[tuple[int, Sequence[Cell]]]:
    """Yield lines from the heading on; titles and empty rows go to the log.

    A title has one text and empty cells, above two rows with more texts.
    """
    lines = _with_texts(lines, log, file)
    first = list(islice(lines, MAX_TITLES + 2))
    sizes = [_count_texts(cells) for _line, cells in first]
    titles = next((number for number, size in enumerate(sizes) if size > 1), 0)
    has_rows = sizes[titles + 1 : titles + 2] > [1]
    if not has_rows or any(len(cells) == 1 for _line, cells in first[:titles]):
        titles = 0
    for line, cells in first[:titles]:
        log.left_out("title_row", Place(line, 0, file), title=" ".join(map(as_text, cells)).strip())
    yield from chain(first[titles:], lines)


def _with_texts(
    lines: Iterator[tuple[int, Sequence[Cell]]], log: ReadingLog, file: str
) -> Iterator[tuple[int, Sequence[Cell]]]:
    empty: list[int] = []
    between = 0
    for line, cells in lines:
        if not _count_texts(cells):
            empty.append(line)
            continue
        between = len(empty)
        yield line, cells
    if between:
        log.left_out("empty_rows", Place(empty[0], 0, file), count=between)


def _count_texts(cells: Sequence[object]) -> int:
    return sum(not isinstance(cell, str) or bool(cell.strip()) for cell in cells)


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
