"""Rows of Langfuse, Braintrust, Phoenix, DeepEval and Ragas: input, expected answer, context, metadata."""

from collections.abc import Mapping

from benchmarks.imports.building import Cases, input_prompt
from benchmarks.imports.content import Case, Check, Imported, Message, Prompt, Reply
from benchmarks.imports.formats.fields import for_each, mapping, messages, text, with_decoded
from benchmarks.imports.ports import Format
from benchmarks.imports.readers.rows import Row
from benchmarks.imports.reading_log import ReadError, ReadingLog
from benchmarks.imports.source import Source

INPUTS = ("input", "user_input", "question")
EXPECTED = ("expected", "expectedOutput", "expected_output", "reference", "ground_truth")
OUTPUTS = ("actual_output", "actualOutput", "output", "response")
CONTEXTS = ("context", "retrieval_context", "retrieved_contexts", "contexts")
_KEYS = ("id", "key", "name")
_SNIFFED_INPUTS = {"input", "user_input"}
_SNIFFED_ANSWERS = {
    "expected", "expectedOutput", "expected_output", "reference", "metadata", "actual_output", "output", "response",
    "retrieved_contexts", "retrieval_context",
}  # fmt: skip
_QUESTION_KEYS = ("question", "input", "query", "prompt", "user_input")


def read(source: Source) -> Imported:
    """Return cases, and replies where a row has an output; objects as input give a variable a field."""
    cases = Cases(source.log)
    used = {*INPUTS, *EXPECTED, *OUTPUTS, *CONTEXTS, *_KEYS, "metadata", "tags"}
    seen: set[str] = set()

    def add(row: Row) -> None:
        row = with_decoded(row, *INPUTS, *EXPECTED, *CONTEXTS, "metadata", "tags")
        case = Case(text(row, _first(row, _KEYS)), metadata=mapping(row, "metadata"))
        _set_input(case, row, source.log)
        _set_expected(case, row)
        context = row.cells.get(_first(row, CONTEXTS))
        if context:
            case.variables["context"] = context
        tags = row.cells.get("tags")
        case.tags = [str(tag) for tag in tags] if isinstance(tags, list) else []
        for name in row.cells.keys() - used - seen:
            seen.add(name)
            source.log.left_out("field_not_used", row.place(name), field=name)
        cases.add(case, row.place())
        if output := text(row, _first(row, OUTPUTS)):
            cases.reply(Reply("imported", case.key, output), row.place())

    for_each(source.rows(), add, source.log)
    checks = []
    if any(case.expected for case in cases.found):
        source.log.changed("comparison_assumed", scorer="iequals")
        checks = [Check("equals", "iequals")]
    return Imported("traces", [], {}, cases.template(source.request.name, [_prompt(cases)], checks), cases.replies)


def _first(row: Row, names: tuple[str, ...]) -> str:
    return next((name for name in names if row.cells.get(name) not in (None, "")), names[0])


def _set_input(case: Case, row: Row, log: ReadingLog) -> None:
    name = _first(row, INPUTS)
    value = row.cells.get(name)
    if isinstance(value, dict) and isinstance(value.get("messages"), list):
        value = value["messages"]
    if value is None or value == "":
        raise ReadError("field_missing", row.place(name), field=name)
    if isinstance(value, list):
        case.messages, case.files = messages(value, row.place(name), log)
    elif isinstance(value, dict):
        case.variables = dict(value)
        question = next((key for key in _QUESTION_KEYS if isinstance(value.get(key), str)), None)
        if question is None and len(value) != 1:
            raise ReadError("question_not_found", row.place(name), fields=", ".join(value))
        case.variables["input"] = value[question or next(iter(value))]
    else:
        case.variables = {"input": text(row, name)}


def _set_expected(case: Case, row: Row) -> None:
    value = row.cells.get(_first(row, EXPECTED))
    if isinstance(value, dict) and len(value) == 1:
        value = next(iter(value.values()))
    if value is not None and value != "":
        case.expected = list(value) if isinstance(value, list) else [value]


def _prompt(cases: Cases) -> Prompt:
    if any("context" in case.variables for case in cases.found):
        with_context = (
            "{% if context is defined %}{{ context if context is string else context | join('\\n\\n') }}\n\n{% endif %}"
            "{% if input is defined %}{{ input }}{% endif %}"
        )
        return Prompt("question with context", [Message("user", with_context)])
    return input_prompt(cases.found)


def _matches(row: Mapping[str, object]) -> bool:
    return bool(_SNIFFED_INPUTS & row.keys()) and bool(_SNIFFED_ANSWERS & row.keys())


TRACES = Format(1, read, matches=_matches)
