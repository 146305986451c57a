import io
import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from itertools import pairwise

from benchmarks.imports.damage import refuse_damage
from benchmarks.imports.limits import MAX_CASES, MAX_COLUMNS
from benchmarks.imports.readers.headings import under_heading
from benchmarks.imports.readers.rows import Row
from benchmarks.imports.reading_log import Place, ReadError, ReadingLog
from uploads.reading import sheets
from uploads.reading.sheets import Cell

MAX_PARTS = 10_000
MAX_XML_BYTES = 400_000_000
ZIP = b"PK\x03\x04"
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_XLSX, _XLSB = b"xl/workbook.xml", b"xl/workbook.bin"
_ODS = b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet"
_XLS = ("Workbook".encode("utf-16-le"), "Book".encode("utf-16-le"))


def is_spreadsheet(content: bytes) -> bool:
    """Return whether it is an XLSX, XLSB, ODS or XLS."""
    if content.startswith(OLE):
        return any(name in content for name in _XLS)
    listed = content[-1_000_000:]
    return content.startswith(ZIP) and (_XLSX in listed or _XLSB in listed or _ODS in content[:200])


def read_sheet(content: bytes, sheet: str, log: ReadingLog, file: str = "") -> Iterator[Row]:
    """Yield the rows of a sheet, the first visible one by default: values, never formulas. Raises ReadError."""
    place = Place(0, 0, file)
    if content.startswith(ZIP):
        _check_parts(content, file)
    with refuse_damage("not_a_spreadsheet", place):
        workbook = _open(content, place)
        if sheet and sheet not in workbook.names:
            raise ReadError("no_such_sheet", place, sheet=sheet)
        sheet = sheet or workbook.names[0]
        log.sheets = [sheet, *(name for name in workbook.names if name != sheet)]
        rows = list(_values(workbook.rows(sheet), place))
    if others := ", ".join(log.sheets[1:]):
        log.left_out("sheets_not_read", place, sheet=sheet, others=others)
    gaps = [(line, after - line - 1) for (line, _cells), (after, _next) in pairwise(rows) if after > line + 1]
    if gaps:
        log.left_out("empty_rows", Place(gaps[0][0] + 1, 0, file), count=sum(size for _line, size in gaps))
    yield from under_heading(iter(rows), log, file)


def _open(content: bytes, place: Place) -> sheets.Workbook:
    if not content.startswith(ZIP) or _XLSX not in content[-1_000_000:]:
        return sheets.Workbook(io.BytesIO(content))
    try:
        compacted = sheets.compact(content)
    except sheets.TooLarge as error:
        raise ReadError("unpacks_too_large", place, limit=sheets.MAX_CELL_BYTES) from error
    return sheets.Workbook(compacted.file, compacted.row_numbers)


def _values(rows: Iterator[tuple[int, list[Cell]]], place: Place) -> Iterator[tuple[int, list[object]]]:
    filled = ((line, cells) for line, cells in rows if any(str(cell).strip() for cell in cells))
    for number, (line, cells) in enumerate(filled):
        if len(cells) > MAX_COLUMNS:
            raise ReadError("too_many_columns", place._replace(line=1), limit=MAX_COLUMNS, found=len(cells))
        if number > MAX_CASES + 1:
            raise ReadError("too_many_cases", place, limit=MAX_CASES)
        yield line, [_value(cell) for cell in cells]


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
