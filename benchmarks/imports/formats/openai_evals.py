"""OpenAI evals: samples of `input` and `ideal`, and the registry's YAML that names the class of the comparison."""

import posixpath

from benchmarks.imports.building import Cases, input_prompt
from benchmarks.imports.content import Case, Check, Imported
from benchmarks.imports.formats.fields import for_each, messages, required, required_text, required_texts
from benchmarks.imports.readers.documents import Map, place_in
from benchmarks.imports.readers.rows import Row
from benchmarks.imports.readers.values import as_text
from benchmarks.imports.report import NOWHERE, Place, ReadError
from benchmarks.imports.source import DOCUMENTS, Source

CHECKS = {
    "Match": Check("match", "starts_with", uses_expected=True),
    "Includes": Check("includes", "contains_any", uses_expected=True),
    "FuzzyMatch": Check("fuzzy_match", "either_contains", uses_expected=True),
    "JsonMatch": Check("json_match", "json_equals", uses_expected=True),
}


def read(source: Source) -> Imported:
    report, cases = source.report, Cases(source.report)
    checks, samples, name = _registered(source)

    def add(row: Row) -> None:
        value = required(row, "input")
        case = Case("", expected=list(required_texts(row, "ideal")))
        if isinstance(value, list):
            case.messages, case.files = messages(value, row.place("input"))
        else:
            case.variables = {"input": required_text(row, "input")}
        cases.add(case, row.place())

    for_each(source.rows(samples), add, report)
    return Imported("openai_evals", [], {}, cases.template(name, [input_prompt(cases.found)], checks))


def _registered(source: Source) -> tuple[list[Check], str, str]:
    """Return the check, the path of the samples and the name, from the registry if there is one."""
    if not source.main.lower().endswith(DOCUMENTS):
        return _checks(source, source.request.evaluation, NOWHERE), source.main, source.request.name
    document = source.document()
    entries = document if isinstance(document, Map) else Map(NOWHERE)
    for name, entry in entries.items():
        arguments = entry.get("args") if isinstance(entry, Map) else None
        if isinstance(entry, Map) and isinstance(arguments, Map):
            place = place_in(entry, "class")
            samples = _samples(source, as_text(arguments.get("samples_jsonl")), place_in(arguments, "samples_jsonl"))
            return _checks(source, as_text(entry.get("class")), place), samples, name
    raise ReadError("no_evaluation", Place(0, 0, source.main_in_report))


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
        source.report.taken("check", place, scorer=CHECKS[kind].scorer, type=kind)
        return [CHECKS[kind]]
    if kind.startswith("ModelBased"):
        source.report.left_out("judge_not_available", place, type=kind)
        return []
    if kind:
        raise ReadError("evaluation_not_supported", place, type=kind)
    source.report.changed("comparison_assumed", place, scorer="starts_with")
    return [CHECKS["Match"]]
