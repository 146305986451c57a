"""Unrendered prompts and cases, as the child takes them."""

from collections.abc import Iterable, Sequence

from benchmarks.models import Case, CaseFile, Prompt, TemplateVersion
from benchmarks.preparation import case_files
from benchmarks.preparation.frames import CaseSource, PromptSource

# The first cases show most faults before a run; preparation renders all.
EXAMINED_CASES = 200


def sources_of(prompts: Iterable[Prompt]) -> list[PromptSource]:
    """Return sources whose ids are places, and whose labels are never empty."""
    return [
        PromptSource(place, prompt.label or f"{place + 1}", prompt.messages, prompt.turns)
        for place, prompt in enumerate(prompts)
    ]


def source_of(case: Case, files: Sequence[CaseFile] = ()) -> CaseSource:
    names = case_files.names_by_variable(files)
    return CaseSource(case.pk, case.key, case.variables, case.expected, case.messages, names)


def examined_cases(version: TemplateVersion) -> list[CaseSource]:
    cases = list(version.cases.order_by("position")[:EXAMINED_CASES])
    files = case_files.files_by_case([case.pk for case in cases])
    return [source_of(case, files[case.pk]) for case in cases]
