"""Finding the format of a file by its fields."""

from collections.abc import Mapping

from benchmarks.imports.content import Column
from benchmarks.imports.formats.arena import is_arena
from benchmarks.imports.limits import MAX_SAMPLE
from benchmarks.imports.ports import Format
from benchmarks.imports.readers.documents import Map
from benchmarks.imports.readers.encoding import BOM
from benchmarks.imports.readers.json_rows import is_lines, is_wrapped
from benchmarks.imports.readers.values import as_text
from benchmarks.imports.reading_log import Place, ReadError, ReadingLog, TooManyErrors
from benchmarks.imports.source import DOCUMENTS, Source

_PROMPTFOO = {"prompts", "tests", "providers", "targets", "scenarios", "defaultTest"}


def find_format(source: Source, formats: Mapping[str, Format]) -> str:
    """Return the name of a format. Raises ReadError."""
    lower = source.main.lower()
    if lower.endswith(DOCUMENTS):
        return _of_document(source)
    if lower.endswith(".json") and (format_name := _of_json(source)):
        return format_name
    probe = Source(source.files, source.main, source.request, ReadingLog(), source.is_archive)
    try:
        row = next(iter(probe.rows()), None)
    except TooManyErrors:
        row = None
    finally:
        source.log.sheets = probe.log.sheets  # another one may have rows
    if row is None:  # reading it as a table lists every error
        return "table"
    return of_fields(row.cells, formats)


def columns_of(source: Source) -> list[Column]:
    """Return the columns of a table that was read in another format; others have none."""
    if source.is_archive or not source.main.lower().endswith((".csv", ".tsv", ".xlsx", ".ods", ".xlsb", ".xls")):
        return []
    probe = Source(source.files, source.main, source.request, ReadingLog())
    row = next(iter(probe.rows()), None)
    return [Column(name, "", sample_of(value)) for name, value in row.cells.items()] if row else []


def sample_of(value: object) -> str:
    return as_text(value)[:MAX_SAMPLE]


def _of_json(source: Source) -> str | None:
    """Return promptfoo for an object with its fields; anything else is records."""
    content = source.text(source.main)
    if not any(f'"{name}"'.encode() in content for name in _PROMPTFOO):
        return None
    if not content.removeprefix(BOM).lstrip().startswith(b"{") or is_lines(content) or is_wrapped(content):
        return None
    document = source.document()
    return "promptfoo" if isinstance(document, Map) and _is_promptfoo(document) else None


def _is_promptfoo(document: Mapping[str, object]) -> bool:
    return "prompts" in document or bool({"tests", "scenarios"} & document.keys())


def _of_document(source: Source) -> str:
    document = source.document()
    if isinstance(document, Map):
        if is_arena(document):
            return "arena"
        keys = document.keys()
        is_task = {"task", "dataset_path"} <= keys or {"task", "include"} <= keys
        if is_task or "doc_to_text" in document or "output_type" in document:
            return "lm_eval"
        if _is_promptfoo(document):
            return "promptfoo"
        if any(isinstance(entry, Map) and "class" in entry for entry in document.values()):
            return "openai_evals"
    raise ReadError("format_unknown", Place(0, 0, source.main_in_report))


def of_fields(row: Mapping[str, object], formats: Mapping[str, Format]) -> str:
    """Return the format of a record: the one with most fields; any other record is a row of a table."""
    sizes = {
        name: max((len(fields) for fields in format_.fields if fields <= row.keys()), default=0)
        for name, format_ in formats.items()
    }
    name = max(sizes, key=sizes.__getitem__)
    if sizes[name]:
        return name
    if any(field.startswith("__expected") for field in row):
        return "table"
    return next(
        (name for name, format_ in formats.items() if format_.matches is not None and format_.matches(row)), "table"
    )
