import io
import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta

import python_calamine

from benchmarks.imports.damage import refuse_damage
from benchmarks.imports.limits import MAX_CASES, MAX_COLUMNS
from benchmarks.imports.readers.rows import Row
from benchmarks.imports.readers.tables import from_heading, heading
from benchmarks.imports.readers.values import as_text, check_value
from benchmarks.imports.reading_log import Place, ReadError, ReadingLog

Cell = int | float | str | bool | time | date | datetime | timedelta
MAX_PARTS = 10_000
MAX_XML_BYTES = 200_000_000


def read_sheet(content: bytes, sheet: str, log: ReadingLog, file: str = "") -> Iterator[Row]:
    """Yield the rows of a sheet, the first one by default: values, never formulas. Raises ReadError."""
    _check_parts(content, file)
    with refuse_damage("not_a_spreadsheet", Place(0, 0, file)):
        workbook = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(content))
        if sheet and sheet not in workbook.sheet_names:
            raise ReadError("no_such_sheet", Place(0, 0, file), sheet=sheet)
        sheet = sheet or workbook.sheet_names[0]
        log.sheets = [sheet, *(name for name in workbook.sheet_names if name != sheet)]
        worksheet = workbook.get_sheet_by_name(sheet)
        if worksheet.width > MAX_COLUMNS:
            raise ReadError("too_many_columns", Place(1, 0, file), limit=MAX_COLUMNS, found=worksheet.width)
        if worksheet.height > MAX_CASES + 1:
            raise ReadError("too_many_cases", Place(0, 0, file), limit=MAX_CASES)
        rows = worksheet.to_python(skip_empty_area=False)
    if others := ", ".join(log.sheets[1:]):
        log.left_out("sheets_not_read", Place(0, 0, file), sheet=sheet, others=others)
    yield from _rows(rows, log, file)


def _rows(rows: list[list[Cell]], log: ReadingLog, file: str) -> Iterator[Row]:
    names: list[str] = []
    columns: dict[str, int] = {}
    heading_line = 1
    for line, cells in from_heading(enumerate(rows, start=1), log, file):
        if not names:
            texts = _without_empty_end([as_text(_value(cell)) for cell in cells])
            names, heading_line = heading(texts, Place(line, 0, file)), line
            columns = {name: number for number, name in enumerate(names, start=1)}
            continue
        if any(cell != "" for cell in cells[len(names) :]):
            log.refuse("ragged_row", Place(line, len(names) + 1, file), expected=len(names), found=len(cells))
            continue
        values = dict(zip(names, map(_value, cells), strict=False))
        for name, value in values.items():
            check_value(value, Place(line, columns[name], file))
        yield Row(values, line, columns, file, heading_line)
    if not names:
        raise ReadError("empty_file", Place(0, 0, file))


def _without_empty_end(cells: list[str]) -> list[str]:
    while cells and not cells[-1].strip():
        cells.pop()
    return cells


def _value(cell: Cell) -> object:
    if isinstance(cell, date | datetime | time):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        return cell.total_seconds()
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return int(cell)
    return cell


def _check_parts(content: bytes, file: str) -> None:
    with refuse_damage("not_a_spreadsheet", Place(0, 0, file)):
        parts = zipfile.ZipFile(io.BytesIO(content)).infolist()
    if len(parts) > MAX_PARTS or sum(part.file_size for part in parts) > MAX_XML_BYTES:
        raise ReadError("unpacks_too_large", Place(0, 0, file), limit=MAX_XML_BYTES)
    if any(part.flag_bits & 1 for part in parts):
        raise ReadError("encrypted", Place(0, 0, file))
