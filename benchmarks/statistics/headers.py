"""Facts about a run, its entrants and cases; pages import them without numpy."""

from typing import Literal

import msgspec

ErrorsCount = Literal["wrong", "missing"]
SCORE = "score"
PASSED = "passed"


class RunHeader(msgspec.Struct, frozen=True, kw_only=True):
    """relevant_difference: the smallest difference of scores that matters, None if unknown."""

    run: str
    template: str
    version_digest: str
    errors_count: ErrorsCount = "missing"
    relevant_difference: float | None = None


class EntrantHeader(msgspec.Struct, frozen=True, kw_only=True):
    entrant: str
    model: str
    model_version: str = ""
    prompt_label: str = ""
    is_baseline: bool = False


class CaseHeader(msgspec.Struct, frozen=True, kw_only=True):
    """cluster: empty if the case is a cluster of its own."""

    key: str
    digest: str
    weight: float = 1.0
    cluster: str = ""
    tags: tuple[str, ...] = ()
