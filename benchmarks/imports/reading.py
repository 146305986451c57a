"""Reading an import from bytes to content. Only `benchmarks.imports.child`, the guarded process, calls it."""

from collections.abc import Mapping

from benchmarks.imports.content import Imported, Request
from benchmarks.imports.formats import inspect_ai, lm_eval, openai_evals, promptfoo, tables
from benchmarks.imports.ports import PORT_VERSION, Format, load_installed
from benchmarks.imports.report import ReadError, Report, TooManyErrors
from benchmarks.imports.sniffing import columns_of, find_format
from benchmarks.imports.source import Source, open_source

FORMATS: dict[str, Format] = {
    "promptfoo": Format(PORT_VERSION, promptfoo.read),
    "table": Format(PORT_VERSION, tables.read),
    "inspect": Format(PORT_VERSION, inspect_ai.read, (frozenset({"input", "target"}),)),
    "openai_evals": Format(PORT_VERSION, openai_evals.read, (frozenset({"input", "ideal"}),)),
    "lm_eval": Format(PORT_VERSION, lm_eval.read),
}


def read_import(content: bytes, request: Request) -> Imported:
    """Return all of the content, or none of it and the errors."""
    report = Report()
    found = request.format
    formats = load_installed(report) | FORMATS
    try:
        source = open_source(content, request, report)
        found = found or ("table" if request.mapping else find_format(source, formats))
        if found not in formats:
            raise ReadError("format_unknown", format=found)
        imported = formats[found].read(source)
        if not report.columns:
            report.columns = columns_of(source)
        imported.format = found
        if source.is_archive and imported.template is not None:
            _add_answers(imported, source, formats)
        if imported.template is None and not imported.replies and not report.counts["refused"]:
            raise ReadError("no_cases")
    except TooManyErrors:
        imported = Imported(found, [], {})
    except ReadError as error:
        report.add_last_error(error)
        imported = Imported(found, [], {})
    return _with_report(imported, report)


def _add_answers(imported: Imported, source: Source, formats: Mapping[str, Format]) -> None:
    """Add models' answers that lie in the archive beside their questions."""
    answers = formats[imported.format].answers
    for path in sorted(source.files.keys() - {source.main}) if answers in formats else ():
        if path.lower().endswith(".jsonl"):
            beside = Source(source.files, path, source.request, source.report, is_archive=True)
            if find_format(beside, formats) == answers:
                imported.replies += formats[answers].read(beside).replies
    keys = {case.key for case in imported.template.cases} if imported.template else set()
    for reply in imported.replies:
        if reply.case_key not in keys:
            source.report.left_out("reply_without_case", entrant=reply.entrant, key=reply.case_key)
    imported.replies = [reply for reply in imported.replies if reply.case_key in keys]


def _with_report(imported: Imported, report: Report) -> Imported:
    counts = {str(action): count for action, count in report.counts.items()}
    imported.columns = report.columns
    if report.counts["refused"]:
        return Imported(imported.format, report.entries, counts, columns=report.columns)
    if imported.template is not None:
        report.taken("cases", count=len(imported.template.cases))
        if imported.template.files:
            report.taken("files", count=len(imported.template.files))
    if imported.replies:
        report.taken("replies", count=len(imported.replies))
    counts = {str(action): count for action, count in report.counts.items()}
    imported.entries, imported.counts = report.entries, counts
    return imported
