"""Reading an import from bytes to content. Only `benchmarks.imports.child`, the guarded process, calls it."""

from collections.abc import Callable

from benchmarks.imports.content import Imported, Request
from benchmarks.imports.formats import (
    alpaca_eval,
    arena_hard,
    hub_presets,
    inspect_ai,
    lm_eval,
    mt_bench,
    openai_evals,
    promptfoo,
    tables,
    traces,
)
from benchmarks.imports.reading_log import ReadError, ReadingLog, TooManyErrors
from benchmarks.imports.sniffing import columns_of, find_format
from benchmarks.imports.source import Source, open_source

FORMATS: dict[str, Callable[[Source], Imported]] = {
    "promptfoo": promptfoo.read,
    "table": tables.read,
    "inspect": inspect_ai.read,
    "openai_evals": openai_evals.read,
    "lm_eval": lm_eval.read,
    "mt_bench": mt_bench.read_questions,
    "mt_bench_answers": mt_bench.read_answers,
    "arena_hard": arena_hard.read_questions,
    "arena_hard_answers": arena_hard.read_answers,
    "arena_hard_judgements": arena_hard.refuse_judgements,
    "alpaca_eval": alpaca_eval.read,
    "gsm8k": hub_presets.gsm8k,
    "mmlu": hub_presets.mmlu,
    "ifeval": hub_presets.ifeval,
    "human_eval": hub_presets.human_eval,
    "simple_qa": hub_presets.simple_qa,
    "truthful_qa": hub_presets.truthful_qa,
    "traces": traces.read,
}

# Formats of answers by those of their questions.
ANSWERS = {"mt_bench": "mt_bench_answers", "arena_hard": "arena_hard_answers"}


def read_import(content: bytes, request: Request) -> Imported:
    """Return all of the content, or none of it and the errors."""
    log = ReadingLog()
    found = request.format
    try:
        source = open_source(content, request, log)
        found = found or ("table" if request.mapping else find_format(source))
        if found not in FORMATS:
            raise ReadError("format_unknown", format=found)
        imported = FORMATS[found](source)
        if not log.columns:
            log.columns = columns_of(source)
        imported.format = found
        if source.is_archive and imported.template is not None:
            _add_answers(imported, source)
        if imported.template is None and not imported.replies and not log.counts["refused"]:
            raise ReadError("no_cases")
    except TooManyErrors:
        imported = Imported(found, [], {})
    except ReadError as error:
        log.add_last_error(error)
        imported = Imported(found, [], {})
    return _with_report(imported, log)


def _add_answers(imported: Imported, source: Source) -> None:
    """Add models' answers that lie in the archive beside their questions."""
    for path in sorted(source.files.keys() - {source.main}) if imported.format in ANSWERS else ():
        if path.lower().endswith(".jsonl"):
            beside = Source(source.files, path, source.request, source.log, is_archive=True)
            if find_format(beside) == ANSWERS[imported.format]:
                imported.replies += FORMATS[ANSWERS[imported.format]](beside).replies
    keys = {case.key for case in imported.template.cases} if imported.template else set()
    for reply in imported.replies:
        if reply.case_key not in keys:
            source.log.left_out("reply_without_case", entrant=reply.entrant, key=reply.case_key)
    imported.replies = [reply for reply in imported.replies if reply.case_key in keys]


def _with_report(imported: Imported, log: ReadingLog) -> Imported:
    counts = {str(action): count for action, count in log.counts.items()}
    imported.columns = log.columns
    if log.counts["refused"]:
        return Imported(imported.format, log.entries, counts, columns=log.columns)
    if imported.template is not None:
        log.taken("cases", count=len(imported.template.cases))
        if imported.template.files:
            log.taken("files", count=len(imported.template.files))
    if imported.replies:
        log.taken("replies", count=len(imported.replies))
    counts = {str(action): count for action, count in log.counts.items()}
    imported.entries, imported.counts = log.entries, counts
    return imported
