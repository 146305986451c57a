import math
from collections.abc import Iterator
from pathlib import Path

import msgspec

from benchmarks.exports.columns import row_of
from benchmarks.statistics.payload import ReportPayload
from benchmarks.statistics.recompute import NotOneRun, read_rows, recompute
from benchmarks.statistics.rows import ItemRow
from common.tables import parquet

TOLERANCE = 1e-9


class CannotRecompute(ValueError):
    """Raised with a message for people."""


class _RunFile(msgspec.Struct):
    report: ReportPayload
    items: list[ItemRow]


def read_report_file(path: Path) -> ReportPayload:
    """Read a whole run's report. Raises CannotRecompute and OSError."""
    return _read_run(path).report


def recompute_file(path: Path) -> ReportPayload:
    """Compute an export's report. Raises CannotRecompute and OSError."""
    try:
        if path.suffix == ".json":
            return recompute(_read_run(path).items)
        if path.suffix == ".parquet":
            return recompute(map(row_of, parquet.read_rows(path)))
        if path.suffix == ".jsonl":
            with path.open("rb") as lines:
                return recompute(read_rows(lines))
    except (msgspec.MsgspecError, NotOneRun, parquet.NotParquet, KeyError) as error:
        raise CannotRecompute(f"{path.name} is no export of one run: {error}.") from error
    raise CannotRecompute(f"An export ends in .jsonl, .parquet or .json; this is {path.name}.")


def differences(stored: msgspec.Struct, computed: msgspec.Struct) -> list[str]:
    return list(_differences(msgspec.to_builtins(stored), msgspec.to_builtins(computed), ""))


def _read_run(path: Path) -> _RunFile:
    try:
        return msgspec.json.decode(path.read_bytes(), type=_RunFile)
    except msgspec.MsgspecError as error:
        raise CannotRecompute(f"{path.name} is no whole run: {error}.") from error


def _differences(stored: object, computed: object, place: str) -> Iterator[str]:
    if isinstance(stored, dict) and isinstance(computed, dict):
        for name in sorted(stored.keys() | computed.keys()):
            yield from _differences(stored.get(name), computed.get(name), f"{place}.{name}")
    elif isinstance(stored, list) and isinstance(computed, list):
        if len(stored) != len(computed):
            yield f"{place}: {len(stored)} are stored, {len(computed)} follow"
        for number, pair in enumerate(zip(stored, computed, strict=False)):
            yield from _differences(*pair, f"{place}[{number}]")
    elif isinstance(stored, int | float) and isinstance(computed, int | float):
        if not math.isclose(stored, computed, rel_tol=TOLERANCE, abs_tol=TOLERANCE):
            yield f"{place}: {stored} is stored, {computed} follows"
    elif stored != computed:
        yield f"{place}: {stored!r} is stored, {computed!r} follows"
