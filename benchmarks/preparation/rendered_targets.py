from collections.abc import Iterator, Sequence
from itertools import islice

from benchmarks.checks.check_set import CheckSet, facts_of
from benchmarks.checks.targets import fill_templates, template_texts, templates_of
from benchmarks.models import Case, RenderedTargets, TemplateVersion
from benchmarks.preparation import guard
from benchmarks.preparation.frames import CaseProblem, RenderTexts, TextsOfCase
from benchmarks.scoring.registry import target_error

CASES_PER_CHILD = 1_000
MAX_PROBLEMS = 1_000


def render_targets(version: TemplateVersion) -> Iterator[list[CaseProblem]]:
    """Store missing targets; yield the problems of each batch of cases."""
    checks = CheckSet(version)
    shared = templates_of(checks.raw)
    cases = Case.objects.filter(version=version, rendered_targets=None).order_by("position")
    if not shared:
        cases = cases.filter(checks__isnull=False)
    remaining = cases.iterator(chunk_size=CASES_PER_CHILD)
    while batch := list(islice(remaining, CASES_PER_CHILD)):
        targets = [(case, [*shared, *templates_of(case.checks or [])]) for case in batch]
        yield _render(checks, [(case, templates) for case, templates in targets if templates], len(shared))


def _render(checks: CheckSet, cases: Sequence[tuple[Case, list[list[object]]]], shared: int) -> list[CaseProblem]:
    problems, rows, at = list[CaseProblem](), list[RenderedTargets](), 0
    while at < len(cases):
        remaining = cases[at:]
        templates = template_texts(remaining[0][1][:shared])
        sources = [
            TextsOfCase(case.key, case.variables, case.expected, template_texts(targets[shared:]))
            for case, targets in remaining
        ]
        results = guard.render_texts(RenderTexts(templates, sources))
        for (case, targets), result in zip(remaining, results, strict=False):
            if result.problem:
                problems.append(CaseProblem(case.key, result.problem))
                continue
            row = RenderedTargets(case=case, targets=fill_templates(targets, result.texts))
            case.rendered_targets = row
            problems += _bad_targets(checks, case)
            rows.append(row)
        at += len(results)
        if any(result.problem == guard.TOO_DEMANDING for result in results):
            break
    RenderedTargets.objects.bulk_create(rows, ignore_conflicts=True, batch_size=1_000)
    return problems


def _bad_targets(checks: CheckSet, case: Case) -> list[CaseProblem]:
    own_checks = checks.of_case(facts_of(case))
    return [
        CaseProblem(case.key, f"{prepared.check.key}: {error}")
        for prepared, target in zip(own_checks.prepared, own_checks.targets, strict=True)
        if (error := target_error(prepared, target))
    ]
