"""Prompts of one case, rendered in the guarded child."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from benchmarks.editing.case_choice import case_at
from benchmarks.models import Case, Prompt, TemplateVersion
from benchmarks.preparation import guard
from benchmarks.preparation.frames import CaseProblem, RenderedSource, RenderRequest
from benchmarks.preparation.problems import problem_sentence
from benchmarks.preparation.sources import EXAMINED_CASES, source_of, sources_of

LISTED_PROBLEMS = 5


@dataclass(frozen=True)
class Preview:
    """number: from 1. case: None without cases."""

    number: int
    total: int
    case: Case | None
    prompts: list[tuple[str, RenderedSource]]
    problems: list[str]


def preview(version: TemplateVersion, prompts: Sequence[Prompt], number: int) -> Preview:
    """Return a case's messages; prompts may be unsaved. number: of the case, from 1."""
    number, total, case = case_at(version, number)
    if case is None or not prompts:
        return Preview(number, total, case, [], [])
    sources = sources_of(prompts)
    [result] = guard.render(RenderRequest(sources, [source_of(case)], version.variables))
    rendered = [(sources[found.prompt].label, found) for found in result.rendered]
    return Preview(number, total, case, rendered, [problem_sentence(problem) for problem in result.problems])


def read_problems(version: TemplateVersion) -> list[str]:
    """Return sentences on the first prompts and cases that cannot be rendered, each fault once."""
    cases = [source_of(case) for case in version.cases.order_by("position")[:EXAMINED_CASES]]
    results = guard.render(RenderRequest(sources_of(version.prompts.all()), cases, version.variables))
    found: dict[tuple[object, ...], CaseProblem] = {}
    for problem in (problem for result in results for problem in result.problems):
        found.setdefault((problem.prompt, problem.line, problem.column, problem.problem), problem)
    return [problem_sentence(problem) for problem in islice(found.values(), LISTED_PROBLEMS)]
