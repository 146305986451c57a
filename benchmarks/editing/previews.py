"""Prompts of one case, rendered in the guarded child."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from benchmarks.editing.case_choice import case_at
from benchmarks.models import Case, CaseFile, Prompt, TemplateVersion
from benchmarks.preparation import case_files, guard
from benchmarks.preparation.frames import CaseProblem, RenderedSource, RenderRequest
from benchmarks.preparation.problems import problem_sentence
from benchmarks.preparation.sources import examined_cases, source_of, sources_of

LISTED_PROBLEMS = 5


@dataclass(frozen=True)
class Preview:
    """number: from 1. case: None without cases."""

    number: int
    total: int
    case: Case | None
    prompts: list[tuple[str, RenderedSource]]
    problems: list[str]
    files: Sequence[CaseFile] = ()


def preview(version: TemplateVersion, prompts: Sequence[Prompt], number: int) -> Preview:
    """Return a case's messages; prompts may be unsaved. number: of the case, from 1."""
    number, total, case = case_at(version, number)
    if case is None:
        return Preview(number, total, case, [], [])
    files = case_files.files_by_case([case.pk])[case.pk]
    if not prompts:
        return Preview(number, total, case, [], [], files)
    sources = sources_of(prompts)
    [result] = guard.render(RenderRequest(sources, [source_of(case, files)], version.variables))
    rendered = [(sources[rendering.prompt].label, rendering) for rendering in result.rendered]
    return Preview(number, total, case, rendered, [problem_sentence(problem) for problem in result.problems], files)


def read_problems(version: TemplateVersion) -> list[str]:
    """Return sentences on the first prompts and cases that cannot be rendered, each fault once."""
    cases = examined_cases(version)
    results = guard.render(RenderRequest(sources_of(version.prompts.all()), cases, version.variables))
    problems: dict[tuple[object, ...], CaseProblem] = {}
    for problem in (problem for result in results for problem in result.problems):
        problems.setdefault((problem.prompt, problem.line, problem.column, problem.problem), problem)
    return [problem_sentence(problem) for problem in islice(problems.values(), LISTED_PROBLEMS)]
