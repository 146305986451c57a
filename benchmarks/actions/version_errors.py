"""Reasons to refuse a version's templates, schema, checks and targets."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import islice

import msgspec
from django.conf import settings

from benchmarks.checks.check_set import raw_check, target_of
from benchmarks.checks.reasons import check_reason, placed
from benchmarks.checks.targets import is_template, templates_of, without_templates
from benchmarks.models import Case, TemplateVersion
from benchmarks.preparation import guard
from benchmarks.preparation.frames import Examine
from benchmarks.preparation.problems import reason_of
from benchmarks.preparation.sources import examined_cases, sources_of
from benchmarks.scoring.check import Check, Prepared
from benchmarks.scoring.child_process import ScoringChildren
from benchmarks.scoring.refusals import CheckError, Refusal
from benchmarks.scoring.registry import errors_of_checks, prepare, target_error
from benchmarks.statistics.headers import PASSED, SCORE
from common.errors import FieldErrors
from common.payload_types import JsonObject

MAX_ERRORS = 100
# The report's own columns.
_RESERVED_METRICS = {SCORE, PASSED}


def errors_of_version(version: TemplateVersion) -> FieldErrors:
    """Return sentences by position, such as `cases[first].expected`."""
    raw = [raw_check(check) for check in version.checks.all()]
    with closing(ScoringChildren(1, settings.ARENA_PLUGINS)) as children:
        problems = list(islice(_errors(version, raw, _CheckErrors(children)), MAX_ERRORS))
    fields: FieldErrors = {}
    for position, reason in problems:
        fields.setdefault(position, []).append(placed(position, reason))
    return fields


class _CheckErrors:
    """Cache by list of checks: many cases have equal ones."""

    def __init__(self, children: ScoringChildren) -> None:
        self._children = children
        self._known: dict[bytes, tuple[list[CheckError], list[Prepared]]] = {}

    def of(self, raw: Sequence[JsonObject]) -> tuple[list[CheckError], list[Prepared]]:
        """Return errors or, without any, the checks without templates."""
        key = msgspec.json.encode(raw)
        if key not in self._known:
            checks = [without_templates(check) for check in raw]
            errors = errors_of_checks(checks, self._children.errors)
            errors += [
                Refusal("metric_reserved", field="metric", name=check["metric"]).at(f"checks[{place}]")
                for place, check in enumerate(raw)
                if check.get("metric") in _RESERVED_METRICS
            ]
            plain = [] if errors else [check for check in raw if not templates_of([check])]
            self._known[key] = errors, [prepare(msgspec.convert(check, Check)) for check in plain]
        return self._known[key]


def _errors(version: TemplateVersion, raw: list[JsonObject], checks: _CheckErrors) -> Iterator[tuple[str, str]]:
    yield from _template_errors(version, raw)
    errors, prepared = checks.of(raw)
    yield from ((error.position, check_reason(error)) for error in errors)
    for case in version.cases.only("version", "key", "expected", "checks").iterator(chunk_size=1_000):
        yield from _case_errors(case, prepared, checks)


def _template_errors(version: TemplateVersion, raw: list[JsonObject]) -> Iterator[tuple[str, str]]:
    templates = {
        f"checks[{place}].target": str(text)
        for place, check in enumerate(raw)
        for target in templates_of([check])
        for text in target
        if is_template(text)
    }
    for number, prompt in enumerate(version.prompts.all()):
        for place, message in enumerate(prompt.messages):
            templates[f"prompts[{number}].messages[{place}]"] = message["template"]
        templates |= {f"prompts[{number}].turns[{place}]": turn for place, turn in enumerate(prompt.turns)}
    cases = examined_cases(version)
    examined = guard.examine(Examine(templates, version.variables, sources_of(version.prompts.all()), cases))
    yield from examined.problems.items()
    yield from ((f"cases[{problem.case}]", reason_of(problem)) for problem in examined.cases)


def _case_errors(case: Case, shared: list[Prepared], checks: _CheckErrors) -> Iterator[tuple[str, str]]:
    errors, own = checks.of(case.checks) if case.checks else ([], [])
    yield from ((f"cases[{case.key}].{error.position}", check_reason(error)) for error in errors)
    for prepared in (*shared, *own):
        if refusal := target_error(prepared, target_of(case.expected)):
            yield f"cases[{case.key}].expected", check_reason(refusal)
