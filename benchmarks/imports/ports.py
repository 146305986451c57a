"""Port of import formats, built in or of other packages: entry points of the group `arena.importers`.

Formats run in the guarded child only; its owner knows their names.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from benchmarks.imports.content import Imported

if TYPE_CHECKING:
    from benchmarks.imports.reading_log import ReadingLog
    from benchmarks.imports.source import Source

GROUP = "arena.importers"
PORT_VERSION = 1


@dataclass(frozen=True)
class Format:
    """Format of files. port_version: of the port it is made for.

    fields: a file is of this format if its first record has all fields of one of these sets. matches: any other rule
    about the record, asked when no set of fields fits. answers: name of the format of models' answers to its questions,
    which are read from the same archive.
    """

    port_version: int
    read: "Callable[[Source], Imported]"
    fields: tuple[frozenset[str], ...] = ()
    matches: Callable[[Mapping[str, object]], bool] | None = None
    answers: str = ""


@cache
def installed_names() -> list[str]:
    """Return the names of other packages' formats, without loading them."""
    return sorted({entry.name for entry in entry_points(group=GROUP)})


def load_installed(log: "ReadingLog") -> dict[str, Format]:
    """Return other packages' formats; one that does not load is named in the log."""
    formats = {}
    for entry in entry_points(group=GROUP):
        try:
            loaded = entry.load()
        except Exception as error:  # a package raises anything
            log.left_out("importer_failed", name=entry.name, error=f"{type(error).__name__}: {error}"[:200])
            continue
        if isinstance(loaded, Format) and loaded.port_version == PORT_VERSION:
            formats[entry.name] = loaded
        else:
            log.left_out("importer_failed", name=entry.name, error=f"no Format of version {PORT_VERSION}")
    return formats
