"""Sheets of workbooks, read by content: cells that are only formatted cost little. For guarded children only."""

import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta

import python_calamine

Cell = int | float | str | bool | time | date | datetime | timedelta
# XML of a sheet with its empty cells, and without them.
MAX_SHEET_BYTES = 400_000_000
MAX_CELL_BYTES = 40_000_000
# Larger areas of a sheet are closed up before calamine reads them: it keeps empty cells, too.
_MAX_AREA = 1_000_000
_CHUNK_BYTES = 4_000_000
_EMPTY_CELL = re.compile(rb"<(?:\w+:)?c(?:\s[^<>]*)?(?:/>|>\s*</(?:\w+:)?c>)")
_EMPTY_ROW = re.compile(rb"<(?:\w+:)?row(?:\s[^<>]*)?(?:/>|>\s*</(?:\w+:)?row>)")
_EXTENT = re.compile(rb"<(?:\w+:)?dimension\s[^<>]*/>")
_ROW_NUMBER = re.compile(rb'<(?:\w+:)?row\s(?:[^<>]*\s)?r="(\d{1,7})"')
_COLUMN = re.compile(rb'<(?:\w+:)?c\s(?:[^<>]*\s)?r="([A-Z]{1,3})\d')
_REFERENCE = re.compile(rb'(<(?:\w+:)?(?:row|c)\s(?:[^<>]*\s)?r=")([A-Z]{0,3})(\d{1,7})"')


class TooLarge(Exception):
    """Raised for a sheet that takes too much memory."""


def is_sheet_part(name: str) -> bool:
    return name.startswith("xl/worksheets/") and name.endswith(".xml")


class Compacted:
    """Archive with the XML of an XLSX, and its closed-up sheets' original row numbers."""

    def __init__(self) -> None:
        self.file = io.BytesIO()
        self.row_numbers: list[list[int]] = []
        self._archive = zipfile.ZipFile(self.file, "w")

    def add(self, name: str, content: bytes) -> None:
        self._archive.writestr(name, content)

    def add_sheet(self, source: zipfile.ZipFile, name: str) -> None:
        """Raises TooLarge."""
        content, numbers = _closed_up(_without_empty_cells(source, name))
        self.add(name, content)
        if numbers:
            self.row_numbers.append(numbers)

    def close(self) -> io.BytesIO:
        self._archive.close()
        self.file.seek(0)
        return self.file


def compact(content: bytes) -> Compacted:
    """Return an XLSX without its empty cells. Raises TooLarge, and as zipfile does."""
    compacted = Compacted()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for part in archive.infolist():
            if is_sheet_part(part.filename):
                compacted.add_sheet(archive, part.filename)
            elif part.filename.endswith((".xml", ".rels")):
                if part.file_size > MAX_CELL_BYTES:
                    raise TooLarge
                compacted.add(part.filename, archive.read(part))
    compacted.close()
    return compacted


def _without_empty_cells(archive: zipfile.ZipFile, name: str) -> bytes:
    kept = bytearray()
    read, pending = 0, b""
    with archive.open(name) as file:
        while chunk := file.read(_CHUNK_BYTES):
            read += len(chunk)
            pending += chunk
            end = pending.rfind(b"</row>")
            end = end + 6 if end >= 0 else max(0, pending.rfind(b"<"))
            kept += _EMPTY_ROW.sub(b"", _EMPTY_CELL.sub(b"", pending[:end]))
            pending = pending[end:]
            if read > MAX_SHEET_BYTES or len(kept) + len(pending) > MAX_CELL_BYTES:
                raise TooLarge
    return _EXTENT.sub(b"", bytes(kept + pending))


def _closed_up(sheet: bytes) -> tuple[bytes, list[int]]:
    """Return a sheet whose rows and columns follow each other if its area is large, and its rows' former numbers."""
    numbers = [int(number) for number in _ROW_NUMBER.findall(sheet)]
    columns = sorted(set(_COLUMN.findall(sheet)), key=lambda name: (len(name), name))
    if not numbers or not columns or max(numbers) * _column_number(columns[-1]) <= _MAX_AREA:
        return sheet, []
    rows = sorted(set(numbers))
    new_rows = {b"%d" % old: b"%d" % new for new, old in enumerate(rows, start=1)}
    new_columns = {old: _column_name(new) for new, old in enumerate(columns, start=1)}

    def moved(match: re.Match[bytes]) -> bytes:
        column = new_columns.get(match[2], match[2])
        return match[1] + column + new_rows.get(match[3], match[3]) + b'"'

    return _REFERENCE.sub(moved, sheet), rows


def _column_number(name: bytes) -> int:
    number = 0
    for letter in name:
        number = number * 26 + letter - 64
    return number


def _column_name(number: int) -> bytes:
    name = b""
    while number:
        number, letter = divmod(number - 1, 26)
        name = bytes([65 + letter]) + name
    return name


class Workbook:
    """Sheets by name, the visible ones first."""

    def __init__(self, file: io.BytesIO, row_numbers: Sequence[list[int]] = ()) -> None:
        self._book = python_calamine.CalamineWorkbook.from_filelike(file)
        self._row_numbers = row_numbers
        visible = python_calamine.SheetVisibleEnum.Visible
        sheets = [sheet for sheet in self._book.sheets_metadata if sheet.typ == python_calamine.SheetTypeEnum.WorkSheet]
        self.names = [sheet.name for sheet in sorted(sheets, key=lambda sheet: sheet.visible != visible)]
        self.hidden = [sheet.name for sheet in sheets if sheet.visible != visible]

    def rows(self, name: str) -> Iterator[tuple[int, list[Cell]]]:
        """Yield each row that is not empty, with its number; the range's value is in the first of merged cells."""
        sheet = self._book.get_sheet_by_name(name)
        if sheet.start is None:
            return
        first = sheet.start[0]
        numbers = next((known for known in self._row_numbers if known[-1] and len(known) == first + sheet.height), [])
        for position, cells in enumerate(sheet.iter_rows(), start=1):
            if any(cell != "" for cell in cells):
                yield (numbers[position - 1] if numbers else position), cells
