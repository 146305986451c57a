"""Unrendered prompts and cases, as the child takes them."""

from collections.abc import Iterable

from benchmarks.models import Case, Prompt
from benchmarks.preparation.frames import CaseSource, PromptSource

# Before a run, the first cases show most faults; preparation renders all.
EXAMINED_CASES = 200


def sources_of(prompts: Iterable[Prompt]) -> list[PromptSource]:
    """Return sources whose ids are places, and whose labels are never empty."""
    return [
        PromptSource(place, prompt.label or f"{place + 1}", prompt.messages, prompt.turns)
        for place, prompt in enumerate(prompts)
    ]


def source_of(case: Case) -> CaseSource:
    return CaseSource(case.pk, case.key, case.variables, case.expected, case.messages)
