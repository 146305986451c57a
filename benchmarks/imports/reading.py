"""Reading an import from bytes to content. Only `benchmarks.imports.child`, the guarded process, calls it."""

from collections.abc import Mapping

from benchmarks.imports.content import Imported, Request
from benchmarks.imports.formats import arena, inspect_ai, lm_eval, openai_evals, promptfoo, tables
from benchmarks.imports.ports import PORT_VERSION, Format, load_installed
from benchmarks.imports.reading_log import Place, ReadError, ReadingLog, TooManyErrors
from benchmarks.imports.sniffing import columns_of, find_format
from benchmarks.imports.source import Source, open_source

FORMATS: dict[str, Format] = {
    "arena": Format(PORT_VERSION, arena.read),
    "promptfoo": Format(PORT_VERSION, promptfoo.read),
    "table": Format(PORT_VERSION, tables.read),
    "inspect": Format(PORT_VERSION, inspect_ai.read, (frozenset({"input", "target"}),)),
    "openai_evals": Format(PORT_VERSION, openai_evals.read, (frozenset({"input", "ideal"}),)),
    "lm_eval": Format(PORT_VERSION, lm_eval.read),
}


def read_import(content: bytes, request: Request) -> Imported:
    """Return all of the content, or none of it and the errors."""
    log = ReadingLog()
    format_name = request.format
    formats = load_installed(log) | FORMATS
    try:
        source = open_source(content, request, log)
        format_name = format_name or ("table" if request.mapping else find_format(source, formats))
        if format_name not in formats:
            raise ReadError("format_unknown", format=format_name)
        imported = formats[format_name].read(source)
        if not log.columns:
            log.columns = columns_of(source)
        imported.format = format_name
        if source.is_archive and imported.template is not None:
            _add_answers(imported, source, formats)
            _list_unread_files(source)
        if imported.template is None and not imported.replies and not log.counts["refused"]:
            raise ReadError("no_cases")
    except TooManyErrors:
        imported = Imported(format_name, [], {})
    except ReadError as error:
        log.add_last_error(error)
        imported = Imported(format_name, [], {})
    return _with_report(imported, log)


def _add_answers(imported: Imported, source: Source, formats: Mapping[str, Format]) -> None:
    """Add models' answers that lie in the archive beside their questions."""
    answers = formats[imported.format].answers
    records = [path for path in sorted(source.files) if path.lower().endswith(".jsonl") and path != source.main]
    for path in records if answers in formats else ():
        answer_source = Source(source.files.copy(), path, source.request, source.log, is_archive=True)
        if find_format(answer_source, formats) == answers:
            imported.replies += formats[answers].read(answer_source).replies
            source.files.read.add(path)
    keys = {case.key for case in imported.template.cases} if imported.template else set()
    for reply in imported.replies:
        if reply.case_key not in keys:
            source.log.left_out("reply_without_case", entrant=reply.entrant, key=reply.case_key)
    imported.replies = [reply for reply in imported.replies if reply.case_key in keys]


def _list_unread_files(source: Source) -> None:
    for path in sorted(source.files.keys() - source.files.read):
        source.log.left_out("file_not_used", Place(0, 0, path), file=path)


def _with_report(imported: Imported, log: ReadingLog) -> Imported:
    counts = {str(action): count for action, count in log.counts.items()}
    imported.columns, imported.sheets, imported.encodings = log.columns, log.sheets, log.encodings
    if log.counts["refused"]:
        return Imported(
            imported.format, log.entries, counts, columns=log.columns, sheets=log.sheets, encodings=log.encodings
        )
    if imported.template is not None:
        log.taken("cases", count=len(imported.template.cases))
        if imported.template.files:
            log.taken("files", count=len(imported.template.files))
    if imported.replies:
        log.taken("replies", count=len(imported.replies))
    counts = {str(action): count for action, count in log.counts.items()}
    imported.entries, imported.counts = log.entries, counts
    return imported
