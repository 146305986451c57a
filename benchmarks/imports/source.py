"""Unpacked files of an import, and their records by syntax."""

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Self

from benchmarks.imports.content import Request
from benchmarks.imports.readers import documents
from benchmarks.imports.readers.encoding import BOM, as_utf8
from benchmarks.imports.readers.json_rows import is_lines, read_json_array, read_json_lines
from benchmarks.imports.readers.parquet import MAGIC, read_parquet_rows
from benchmarks.imports.readers.rows import Row
from benchmarks.imports.readers.spreadsheets import is_spreadsheet, read_sheet
from benchmarks.imports.readers.tables import read_table
from benchmarks.imports.reading_log import Place, ReadError, ReadingLog
from benchmarks.imports.unpacking import unpack

DOCUMENTS = (".yaml", ".yml")
_INCLUDE = re.compile(rb"""^include:[ \t]*['"]?([^\s'"#]+)""", re.MULTILINE)
RECORDS = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".xlsx", ".ods", ".xlsb", ".xls", ".parquet", ".txt")


class Files(dict[str, bytes]):
    """Files by path. read: paths of those that were read."""

    def __init__(self, files: dict[str, bytes]) -> None:
        super().__init__(files)
        self.read: set[str] = set()

    def __getitem__(self, path: str) -> bytes:
        self.read.add(path)
        return super().__getitem__(path)

    def copy(self) -> Self:
        """Return the same files, none of them read."""
        return type(self)(self)


@dataclass
class Source:
    """Unpacked files; `main` is the one that the format is found by."""

    files: Files
    main: str
    request: Request
    log: ReadingLog
    is_archive: bool = False
    _texts: dict[str, bytes] = field(default_factory=dict)

    @property
    def main_in_report(self) -> str:
        return self.path_in_log(self.main)

    def rows(self, path: str = "") -> Iterator[Row]:
        path = path or self.main
        label, content = self.path_in_log(path), self.files[path]
        if content.startswith(MAGIC):
            yield from read_parquet_rows(content, self.log, label)
        elif is_spreadsheet(content):
            yield from read_sheet(content, self.request.sheet, self.log, label)
        else:
            yield from _rows_of_text(self.text(path), path, label, self.log)

    def text(self, path: str) -> bytes:
        """Return a file's text in UTF-8."""
        if path not in self._texts:
            label = self.path_in_log(path)
            self._texts[path] = as_utf8(self.files[path], self.request.encoding, self.log, label)
        return self._texts[path]

    def path_in_log(self, path: str) -> str:
        """Return the path, or "" for a file that came alone."""
        return path if self.is_archive else ""

    def document(self, path: str = "") -> object:
        path = path or self.main
        is_yaml = path.lower().endswith(DOCUMENTS)
        return documents.read_document(self.text(path), self.path_in_log(path), is_yaml=is_yaml)

    def find(self, reference: str, referrer: str, place: Place) -> str:
        """Return the archive's path of a reference such as file://cases.csv. Raises ReadError."""
        relative = reference.removeprefix("file://")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(referrer), relative))
        if "://" in relative or path.startswith(("/", "..")):
            raise ReadError("file_outside_archive", place, file=reference)
        if path not in self.files:
            raise ReadError("file_missing", place, file=reference)
        return path


def open_source(content: bytes, request: Request, log: ReadingLog) -> Source:
    """Raises ReadError."""
    if not content.strip():
        raise ReadError("empty_file")
    files = Files(unpack(content, request.name))
    is_archive = content.startswith(b"PK") and len(files) > 0 and not is_spreadsheet(content)
    return Source(files, _main(files), request, log, is_archive)


def _main(files: dict[str, bytes]) -> str:
    """Return the configuration that lies highest and that none includes, else the first table."""
    order = sorted(files.keys() - _included(files) or files, key=lambda path: (path.count("/"), path))
    for endings in (DOCUMENTS, (".json",), RECORDS):
        if main := next((path for path in order if path.lower().endswith(endings)), None):
            return main
    return order[0]


def _included(files: dict[str, bytes]) -> set[str]:
    """Return the paths that tasks of lm-evaluation-harness include."""
    return {
        posixpath.normpath(posixpath.join(posixpath.dirname(path), match[1].decode("utf-8", "replace")))
        for path, content in files.items()
        if path.lower().endswith(DOCUMENTS)
        for match in _INCLUDE.finditer(content)
    }


def _rows_of_text(content: bytes, path: str, label: str, log: ReadingLog) -> Iterator[Row]:
    ending = posixpath.splitext(path.lower())[1]
    start = content[:1_000].removeprefix(BOM).lstrip()
    if ending in (".csv", ".tsv"):
        return read_table(content, log, label)
    if start.startswith(b"["):
        return read_json_array(content, log, label)
    if start.startswith(b"{"):
        if ending in (".jsonl", ".ndjson") or is_lines(content):
            return read_json_lines(content, log, label)
        return read_json_array(content, log, label)
    return read_table(content, log, label)
