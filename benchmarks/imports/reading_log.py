from collections import Counter
from typing import NamedTuple

from benchmarks.imports.codes import Code
from benchmarks.imports.content import Action, Column, Entry, ReadLine, Value
from benchmarks.imports.limits import MAX_ENTRIES, MAX_VALUE_IN_LOG


class Place(NamedTuple):
    """Position in a file; lines and columns count from 1, and 0 is unknown."""

    line: int = 0
    column: int = 0
    file: str = ""


NOWHERE = Place()


class ReadError(Exception):
    """Raised when reading cannot go on."""

    def __init__(self, code: Code, place: Place = NOWHERE, **values: Value) -> None:
        super().__init__(code)
        self.code, self.place, self.values = code, place, values


class TooManyErrors(ReadError):
    """Raised after the last error that the log lists."""


class ReadingLog:
    """Entries in the order of reading, at most `MAX_ENTRIES` of each action."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.counts: Counter[Action] = Counter()
        self.columns: list[Column] = []
        self.sheets: list[str] = []
        self.encodings: list[ReadLine] = []
        self._listed: set[tuple[object, ...]] = set()

    def taken(self, code: Code, place: Place = NOWHERE, **values: Value) -> None:
        self._add("taken", code, place, values)

    def changed(self, code: Code, place: Place = NOWHERE, **values: Value) -> None:
        self._add("changed", code, place, values)

    def left_out(self, code: Code, place: Place = NOWHERE, **values: Value) -> None:
        self._add("left_out", code, place, values)

    def refuse(self, code: Code, place: Place = NOWHERE, **values: Value) -> None:
        """Add an error and go on. Raises TooManyErrors."""
        self._add("refused", code, place, values)
        if self.counts["refused"] >= MAX_ENTRIES:
            raise TooManyErrors("too_many_errors")

    def refuse_error(self, error: ReadError) -> None:
        self.refuse(error.code, error.place, **error.values)

    def add_last_error(self, error: ReadError) -> None:
        self._add("refused", error.code, error.place, error.values)

    def _add(self, action: Action, code: Code, place: Place, values: dict[str, Value]) -> None:
        if place.line and action != "refused":
            # An aliased or repeated part of a file is listed once.
            entry = (action, code, place, *values.values())
            if entry in self._listed:
                return
            self._listed.add(entry)
        self.counts[action] += 1
        if self.counts[action] <= MAX_ENTRIES:
            short = {name: _shortened(value) for name, value in values.items()}
            self.entries.append(Entry(action, code, short, *place))


def _shortened(value: Value) -> Value:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode().replace("\0", "\ufffd")[:MAX_VALUE_IN_LOG]
    return value
