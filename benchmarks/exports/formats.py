from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from itertools import chain

from benchmarks.exports.answer_sheet import answer_batches, answer_table
from benchmarks.exports.inspect_logs import as_inspect
from benchmarks.exports.run_export import RunExport
from benchmarks.exports.run_json import as_json
from common.tables import writers

CONTENT_TYPES = {
    **writers.CONTENT_TYPES,
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "json": "application/json",
    "inspect.json": "application/json",
    "inspect.zip": "application/zip",
}
INSPECT = "inspect"
# Rows with their replies, in memory until they are written.
_ROWS_PER_GROUP = 10_000
# A workbook's limits of a sheet.
_MAX_ROWS, _MAX_COLUMNS = 1_048_576, 16_384


def fits_workbook(export: RunExport) -> bool:
    return export.run.item_count < _MAX_ROWS and len(export.table.columns) <= _MAX_COLUMNS


def _as_jsonl(export: RunExport) -> Iterator[bytes]:
    return writers.as_jsonl(export.batches(), export.table)


def _as_csv(export: RunExport) -> Iterator[bytes]:
    """Yield a row per item or, if wide, the sheet of answers."""
    if export.is_wide:
        return chain([BOM_UTF8], writers.as_csv(answer_batches(export), answer_table(export)))
    return writers.as_csv(export.batches(), export.table)


def _as_parquet(export: RunExport) -> Iterator[bytes]:
    return writers.as_parquet(export.batches(), export.table, rows_per_group=_ROWS_PER_GROUP)


def _as_xlsx(export: RunExport) -> Iterator[bytes]:
    from benchmarks.exports.xlsx import as_xlsx  # its library takes time to import

    return as_xlsx(export)


WRITERS: dict[str, Callable[[RunExport], Iterator[bytes]]] = {
    "jsonl": _as_jsonl,
    "csv": _as_csv,
    "parquet": _as_parquet,
    "xlsx": _as_xlsx,
    "json": as_json,
    INSPECT: as_inspect,
}


def file_ending(export: RunExport, name: str) -> str:
    """Return the key of CONTENT_TYPES for a format of WRITERS."""
    if name != INSPECT:
        return name
    return "inspect.json" if len(export.entrants) == 1 else "inspect.zip"
