from collections.abc import Mapping
from typing import NamedTuple

from benchmarks.imports.reading_log import Place


class Row(NamedTuple):
    """Record of a table or of JSON lines; `columns` are the numbers of its columns, if it has any."""

    cells: dict[str, object]
    line: int
    columns: Mapping[str, int] = {}
    file: str = ""
    heading_line: int = 1

    def place(self, column: str = "") -> Place:
        return Place(self.line, self.columns.get(column, 0), self.file)
