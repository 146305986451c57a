"""Samples of inspect-ai: `input`, `target`, `choices`, `id`, `metadata`, `files`."""

from benchmarks.imports.building import MAX_CHOICES, Cases, choice_checks, choice_prompt, input_prompt
from benchmarks.imports.content import Case, Check, Imported
from benchmarks.imports.formats.fields import (
    data_file,
    for_each,
    mapping,
    messages,
    required,
    required_text,
    text,
    texts,
    with_decoded,
)
from benchmarks.imports.readers.rows import Row
from benchmarks.imports.reading_log import ReadError, ReadingLog
from benchmarks.imports.source import Source

_FIELDS = {"input", "target", "choices", "id", "metadata", "files", "sandbox", "setup"}


def read(source: Source) -> Imported:
    """Return cases with a chat or with one variable; letters are the targets of choices."""
    log, cases = source.log, Cases(source.log)
    with_choices: list[bool] = []

    def add(row: Row) -> None:
        row = with_decoded(row, "input", "target", "choices", "metadata", "files")
        case = _case(row, log)
        for name in ("sandbox", "setup"):
            if row.cells.get(name):
                raise ReadError("sandbox_not_supported", row.place(name), field=name)
        with_choices.append(bool(texts(row, "choices")))
        if with_choices[-1] != with_choices[0]:
            raise ReadError("choices_in_some_cases_only", row.place("choices"))
        for name in row.cells.keys() - _FIELDS:
            if not row.columns or row.line == 2:
                log.left_out("field_not_used", row.place(name), field=name)
        cases.add(case, row.place("id"))

    for_each(source.rows(), add, log)
    if any(with_choices):
        template = cases.template(source.request.name, [choice_prompt(cases.found)], choice_checks(cases.found))
    else:
        log.changed("comparison_assumed", scorer="icontains_any")
        prompts = [input_prompt(cases.found)]
        template = cases.template(source.request.name, prompts, [Check("contains", "icontains_any")])
    return Imported("inspect", [], {}, template)


def _case(row: Row, log: ReadingLog) -> Case:
    value = required(row, "input")
    case = Case(text(row, "id"), expected=list(texts(row, "target")), metadata=mapping(row, "metadata"))
    choices = texts(row, "choices")
    if len(choices) > MAX_CHOICES:
        raise ReadError("too_many_choices", row.place("choices"), limit=MAX_CHOICES)
    if isinstance(value, list):
        case.messages, case.files = messages(value, row.place("input"), log)
        if choices:
            case.variables = {"choices": choices}
    elif choices:
        case.variables = {"question": required_text(row, "input"), "choices": choices}
    else:
        case.variables = {"input": required_text(row, "input")}
    for name, url in mapping(row, "files").items():
        case.files.append(data_file(url, name, row.place("files")))
    return case
