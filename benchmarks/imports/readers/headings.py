"""Headings of tables as people keep them: under titles, with columns without a name, or with the same one twice."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import NamedTuple

from benchmarks.imports.column_names import is_usual
from benchmarks.imports.limits import MAX_COLUMNS
from benchmarks.imports.readers.rows import Row
from benchmarks.imports.readers.values import as_text, check_value
from benchmarks.imports.reading_log import Place, ReadError, ReadingLog

MAX_TITLES = 5
_LOOKED_AT = 25

Line = tuple[int, Sequence[object]]


class _Columns(NamedTuple):
    """positions: of the columns that are read, from 0. width: cells that a row may have."""

    names: list[str]
    positions: list[int]
    width: int


def under_heading(lines: Iterator[Line], log: ReadingLog, file: str) -> Iterator[Row]:
    """Yield rows; titles, empty rows and columns of row numbers go to the log. Raises ReadError."""
    lines = _with_texts(lines, log, file)
    first = list(islice(lines, _LOOKED_AT))
    if not first:
        raise ReadError("empty_file", Place(0, 0, file))
    titles = _count_titles([cells for _line, cells in first])
    for line, cells in first[:titles]:
        log.left_out("title_row", Place(line, 0, file), title=" ".join(map(as_text, cells)).strip())
    heading_line, heading = first[titles]
    rows = first[titles + 1 :]
    columns = _columns(heading, [cells for _line, cells in rows], log, Place(heading_line, 0, file))
    numbers = {name: position + 1 for name, position in zip(columns.names, columns.positions, strict=True)}
    for line, cells in chain(rows, lines):
        if _count_texts(cells[columns.width :]):
            place = Place(line, columns.width + 1, file)
            log.refuse("ragged_row", place, expected=columns.width, found=len(cells))
            continue
        if len(cells) < columns.width and (missing := columns.width - len(cells)):
            place = Place(line, len(cells) + 1, file)
            log.changed("row_filled", place, expected=columns.width, found=len(cells))
            cells = [*cells, *[""] * missing]
        row = Row({name: cells[at] for name, at in zip(*columns[:2], strict=True)}, line, numbers, file, heading_line)
        for name, value in row.cells.items():
            check_value(value, row.place(name))
        yield row


def _with_texts(lines: Iterator[Line], log: ReadingLog, file: str) -> Iterator[Line]:
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


def _count_titles(rows: Sequence[Sequence[object]]) -> int:
    """Return how many rows stand above the heading, which has two usual names, or begins a table."""
    for number, cells in enumerate(rows[: MAX_TITLES + 1]):
        if sum(isinstance(cell, str) and is_usual(cell) for cell in cells) > 1:
            return number
    sizes = [_count_texts(cells) for cells in rows]
    wide = next((number for number, size in enumerate(sizes[: MAX_TITLES + 1]) if size > 1), 0)
    if wide and sizes[wide + 1 : wide + 2] > [1] and all(len(cells) > 1 for cells in rows[:wide]):
        return wide
    return _count_narrow(rows)


def _count_narrow(rows: Sequence[Sequence[object]]) -> int:
    """Return the number of rows above a table of at least three rows, all wider than these."""
    widths = [max((at for at, cell in enumerate(cells, start=1) if _count_texts([cell])), default=0) for cells in rows]
    [(width, _count)] = Counter(widths).most_common(1)
    narrow = widths.index(width)
    is_table = len(rows) - narrow > 2 and max(widths[narrow:]) == width == _count_texts(rows[narrow])
    if not 0 < narrow <= MAX_TITLES or not is_table:
        return 0
    # A heading may lack the name of one column.
    return narrow if all(size == 1 or size < width - 1 for size in widths[:narrow]) else 0


def _columns(heading: Sequence[object], rows: Sequence[Sequence[object]], log: ReadingLog, place: Place) -> _Columns:
    """Raises ReadError for too many columns."""
    cells = [as_text(cell).strip() for cell in heading]
    while cells and not cells[-1] and not any(_count_texts(row[len(cells) - 1 : len(cells)]) for row in rows):
        cells.pop()
    if len(cells) > MAX_COLUMNS:
        raise ReadError("too_many_columns", place, limit=MAX_COLUMNS, found=len(cells))
    if len(rows) > 1 and all(len(row) == len(cells) + 1 for row in rows) and _are_numbered(rows):
        cells = ["", *cells]  # R names no column of row numbers
    names: list[str] = []
    positions: list[int] = []
    taken = set(cells)
    for position, name in enumerate(cells):
        here = Place(place.line, position + 1, place.file)
        if not name and not position and len(cells) > 1 and _are_numbered(rows):
            log.left_out("index_column", here)
            continue
        if not name:
            name = _free_name(f"column {position + 1}", taken)
            log.changed("column_named", here, name=name)
        elif name in names:
            column, name = name, _free_name(name, taken)
            log.changed("column_made_unique", here, column=column, name=name)
        names.append(name)
        positions.append(position)
        taken.add(name)
    return _Columns(names, positions, len(cells))


def _are_numbered(rows: Sequence[Sequence[object]]) -> bool:
    """Return whether the first cells count up, from any number."""
    texts = [as_text(row[0]).strip() if row else "" for row in rows]
    if not texts or not all(text.isdecimal() and len(text) < 10 for text in texts):
        return False
    numbers = list(map(int, texts))
    return numbers == list(range(numbers[0], numbers[0] + len(numbers))) and numbers[0] in (0, 1)


def _free_name(name: str, taken: set[str]) -> str:
    number = 2
    free = name
    while free in taken:
        free = f"{name} ({number})"
        number += 1
    return free
