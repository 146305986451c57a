"""OpenAI evals: samples of `input` and `ideal`, and the registry's YAML that names the class of the comparison."""

import posixpath
from dataclasses import dataclass, field
from itertools import islice

import msgspec

from benchmarks.imports.building import Cases, input_prompt
from benchmarks.imports.content import Case, Check, Imported, Message
from benchmarks.imports.formats.fields import examples, for_each, messages, required, required_text, required_texts
from benchmarks.imports.readers.documents import Map, place_in
from benchmarks.imports.readers.rows import Row
from benchmarks.imports.readers.values import as_text
from benchmarks.imports.reading_log import NOWHERE, Place, ReadError
from benchmarks.imports.source import DOCUMENTS, Source

CHECKS = {
    "Match": Check("match", "starts_with"),
    "Includes": Check("includes", "contains_any"),
    "FuzzyMatch": Check(
        "fuzzy_match", "either_contains",
        settings={"ignore_case": True, "ignore_punctuation": True, "ignore_articles": True},
    ),
    "JsonMatch": Check("json_match", "json_equals"),
}  # fmt: skip
_ARGUMENTS = {"samples_jsonl", "num_few_shot", "few_shot_jsonl", "ignore_case", "max_tokens"}


@dataclass
class _Evaluation:
    """shots: messages that stand before the last one of each chat."""

    checks: list[Check]
    samples: str
    name: str
    shots: list[Message] = field(default_factory=list)
    parameters: dict[str, object] = field(default_factory=dict)


def read(source: Source) -> Imported:
    log, cases = source.log, Cases(source.log)
    evaluation = _registered(source)
    unused: set[str] = set()

    def add(row: Row) -> None:
        value = required(row, "input")
        case = Case("", expected=list(required_texts(row, "ideal")))
        if isinstance(value, list):
            case.messages, case.files = messages(value, row.place("input"), log)
            case.messages[-1:-1] = evaluation.shots
        elif evaluation.shots:
            raise ReadError("messages_not_understood", row.place("input"))
        else:
            case.variables = {"input": required_text(row, "input")}
        for name in row.cells.keys() - {"input", "ideal"} - unused:
            unused.add(name)
            log.left_out("field_not_used", row.place(name), field=name)
        cases.add(case, row.place())

    for_each(source.rows(evaluation.samples), add, log)
    template = cases.template(
        evaluation.name, [input_prompt(cases.found)], evaluation.checks, parameters=evaluation.parameters
    )
    return Imported("openai_evals", [], {}, template)


def _registered(source: Source) -> _Evaluation:
    """Return the first evaluation of the registry, or the samples alone if there is no registry."""
    if not source.main.lower().endswith(DOCUMENTS):
        return _Evaluation(_checks(source, source.request.evaluation, NOWHERE), source.main, source.request.name)
    document = source.document()
    entries = document if isinstance(document, Map) else Map(NOWHERE)
    first: _Evaluation | None = None
    for name, entry in entries.items():
        arguments = entry.get("args") if isinstance(entry, Map) else None
        if not isinstance(entry, Map) or not isinstance(arguments, Map):
            continue
        if first is not None:
            source.log.left_out("evaluation_left_out", place_in(entries, name), name=name)
            continue
        place = place_in(entry, "class")
        samples = _samples(source, as_text(arguments.get("samples_jsonl")), place_in(arguments, "samples_jsonl"))
        checks = _checks(source, as_text(entry.get("class")), place)
        first = _Evaluation(checks, samples, name)
        _add_arguments(source, first, arguments)
    if first is None:
        raise ReadError("no_evaluation", Place(0, 0, source.main_in_report))
    return first


def _add_arguments(source: Source, evaluation: _Evaluation, arguments: Map) -> None:
    for name in arguments.keys() - _ARGUMENTS:
        source.log.left_out("key_not_used", place_in(arguments, name), key=name)
    if arguments.get("ignore_case") is True:
        evaluation.checks = [
            msgspec.structs.replace(check, scorer="icontains_any") if check.key == "includes" else check
            for check in evaluation.checks
        ]
    if "max_tokens" in arguments:
        evaluation.parameters = {"max_tokens": arguments["max_tokens"]}
    count = arguments.get("num_few_shot")
    if isinstance(count, int) and count > 0:
        place = place_in(arguments, "few_shot_jsonl")
        path = _samples(source, as_text(arguments.get("few_shot_jsonl")), place)
        for row in islice(source.rows(path), count):
            evaluation.shots += examples(required(row, "sample"), row.place("sample"))


def _samples(source: Source, reference: str, place: Place) -> str:
    """Return the path of the samples: registries keep them in a folder of data beside them."""
    name = posixpath.basename(reference)
    exact = [path for path in source.files if path.endswith(reference)]
    for path in exact or [path for path in source.files if posixpath.basename(path) == name]:
        if name:
            return path
    raise ReadError("file_missing", place, file=reference)


def _checks(source: Source, evaluation: str, place: Place) -> list[Check]:
    kind = evaluation.rpartition(":")[2]
    if kind in CHECKS:
        source.log.taken("check", place, scorer=CHECKS[kind].scorer, type=kind)
        return [CHECKS[kind]]
    if kind.startswith("ModelBased"):
        source.log.left_out("judge_not_available", place, type=kind)
        return []
    if kind:
        raise ReadError("evaluation_not_supported", place, type=kind)
    source.log.changed("comparison_assumed", place, scorer="starts_with")
    return [CHECKS["Match"]]
