"""Prompts of one case, rendered in the guarded child."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks import case_files
from benchmarks.editing.case_choice import case_at
from benchmarks.models import Case, CaseFile, Prompt, TemplateVersion
from benchmarks.preparation import guard
from benchmarks.preparation.frames import CaseProblem, PromptSource, RenderedSource, RenderRequest
from benchmarks.preparation.run_preparation import source_of


@dataclass(frozen=True)
class Preview:
    """number: from 1. case: None without cases."""

    number: int
    total: int
    case: Case | None
    prompts: list[tuple[str, RenderedSource]]
    problems: list[CaseProblem]
    files: Sequence[CaseFile] = ()


def preview(version: TemplateVersion, prompts: Sequence[Prompt], number: int) -> Preview:
    """Return a case's messages; prompts may be unsaved. number: of the case, from 1."""
    number, total, case = case_at(version, number)
    if case is None:
        return Preview(number, total, case, [], [])
    files = case_files.files_by_case([case.pk])[case.pk]
    if not prompts:
        return Preview(number, total, case, [], [], files)
    labels = [prompt.label or f"{place}" for place, prompt in enumerate(prompts, start=1)]
    sources = [
        PromptSource(place, label, prompt.messages, prompt.turns)
        for place, (label, prompt) in enumerate(zip(labels, prompts, strict=True))
    ]
    source = source_of(case, files)
    [result] = guard.render(RenderRequest(sources, [source], version.variables))
    rendered = [(labels[found.prompt], found) for found in result.rendered]
    return Preview(number, total, case, rendered, result.problems, files)
