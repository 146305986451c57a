from collections.abc import Callable, Iterator

from benchmarks.exports.csv_files import as_csv
from benchmarks.exports.inspect_logs import as_inspect
from benchmarks.exports.json_lines import as_jsonl
from benchmarks.exports.parquet import as_parquet
from benchmarks.exports.run_export import RunExport
from benchmarks.exports.run_json import as_json

CONTENT_TYPES = {
    "jsonl": "application/jsonl",
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "json": "application/json",
    "inspect.json": "application/json",
    "inspect.zip": "application/zip",
}
INSPECT = "inspect"


# Of a sheet of a workbook.
_MAX_ROWS, _MAX_COLUMNS = 1_048_576, 16_384


def fits_workbook(export: RunExport) -> bool:
    return export.run.item_count < _MAX_ROWS and len(export.columns.names) <= _MAX_COLUMNS


def _as_xlsx(export: RunExport) -> Iterator[bytes]:
    from benchmarks.exports.xlsx import as_xlsx  # its library takes time to import

    return as_xlsx(export)


WRITERS: dict[str, Callable[[RunExport], Iterator[bytes]]] = {
    "jsonl": as_jsonl,
    "csv": as_csv,
    "parquet": as_parquet,
    "xlsx": _as_xlsx,
    "json": as_json,
    INSPECT: as_inspect,
}


def file_ending(export: RunExport, name: str) -> str:
    """Return the key of CONTENT_TYPES for a format of WRITERS."""
    if name != INSPECT:
        return name
    return "inspect.json" if len(export.entrants) == 1 else "inspect.zip"
