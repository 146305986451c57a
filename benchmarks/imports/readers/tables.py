import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from benchmarks.imports.limits import MAX_TEXT
from benchmarks.imports.readers.encoding import check_utf8
from benchmarks.imports.readers.headings import under_heading
from benchmarks.imports.readers.rows import Row
from benchmarks.imports.reading_log import Place, ReadError, ReadingLog

_SEPARATORS = ",;\t|"
# Occurs in no text: each line is one cell.
_NONE = "\x1f"
_EXCEL_SEPARATOR = re.compile(r'"?sep=(.)"?[\r\n]+')
_LINES_OF_SAMPLE = 30


def read_table(content: bytes, log: ReadingLog, file: str = "") -> Iterator[Row]:
    """Yield the rows under the heading, all cells as texts. Raises ReadError."""
    check_utf8(content, file)
    csv.field_size_limit(MAX_TEXT)
    return under_heading(_lines(content, file), log, file)


def _lines(content: bytes, file: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the first line and the cells of each row. Raises ReadError."""
    lines = io.TextIOWrapper(io.BytesIO(content), "utf-8-sig", newline="")
    start = 1
    separator = _separator(content[: MAX_TEXT * 4].decode("utf-8-sig", "ignore"), file)
    if _EXCEL_SEPARATOR.match(content[:20].decode("utf-8-sig", "ignore")):
        next(lines)
        start = 2
    reader = csv.reader(lines, delimiter=separator, strict=True)
    before = start - 1
    try:
        for cells in reader:
            line, start = start, reader.line_num + 1 + before
            yield line, cells
    except csv.Error as error:
        if "field limit" in str(error):
            raise ReadError("text_too_long", Place(start, 0, file), limit=MAX_TEXT) from error
        raise ReadError("not_csv", Place(start, 0, file), problem=str(error)) from error


def _separator(text: str, file: str) -> str:
    """Return the separator that gives most of the first lines as many cells."""
    if given := _EXCEL_SEPARATOR.match(text):
        return given[1]
    if file.lower().endswith(".tsv") and "\t" in text:
        return "\t"
    samples = {separator: _sample(text, separator) for separator in _SEPARATORS}
    best = max(_SEPARATORS, key=lambda separator: _regularity(samples[separator]))
    return _NONE if _is_prose(samples[best]) else best


def _sample(text: str, separator: str) -> list[list[str]]:
    rows: list[list[str]] = []
    try:
        for cells in csv.reader(io.StringIO(text, newline=""), delimiter=separator):
            if any(cell.strip() for cell in cells):
                rows.append(cells)
            if len(rows) >= _LINES_OF_SAMPLE:
                break
    except csv.Error:  # a long cell, which reading names with its line
        pass
    return rows


def _regularity(rows: Sequence[Sequence[str]]) -> tuple[int, int]:
    """Return how many rows have the most frequent number of cells above one, and that number."""
    counts = Counter(len(cells) for cells in rows if len(cells) > 1)
    return max(((count, width) for width, count in counts.items()), default=(0, 0))


def _is_prose(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the separator only stands in sentences, under a heading of one cell."""
    split = [cells for cells in rows if len(cells) > 1]
    return bool(split) and len(rows[0]) == 1 and all(cells[1].startswith(" ") for cells in split)
