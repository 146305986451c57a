"""Rows of a run's export, one an item."""

from datetime import datetime
from typing import Literal

import msgspec

from benchmarks.statistics.headers import ErrorsCount

ItemState = Literal["queued", "answering", "answered", "scored", "failed", "skipped", "left_out"]
# Errors of the model. Every other one is of the infrastructure, and the score is missing.
WRONG_ERRORS = frozenset(
    {"empty", "only_reasoning", "no_room", "not_extracted", "filtered", "answer_too_long", "tool_calls"}
)
NOT_EXTRACTED = "not_extracted"
NOT_MEASURED = "not_measured"


class CheckResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """Result of one check; metric: empty unless the check belongs to a named metric, in which it has this weight."""

    value: float | None = None
    passed: bool | None = None
    error: str = ""
    metric: str = ""
    weight: float = 1.0


class ItemRow(msgspec.Struct, frozen=True, kw_only=True):
    """An item in an export. entrant: unique in the run; repeat: from 0; cost and times: in dollars and milliseconds.

    lost_cost, lost_calls: of attempts that gave no answer, not in cost. Equal in all rows: run, template,
    version_digest, errors_count and relevant_difference.
    """

    run: str
    template: str
    version_digest: str
    case_key: str
    case_digest: str
    case_weight: float = 1.0
    cluster: str = ""
    tags: tuple[str, ...] = ()
    entrant: str
    model: str
    model_version: str = ""
    prompt_label: str = ""
    is_baseline: bool = False
    errors_count: ErrorsCount = "missing"
    relevant_difference: float | None = None
    repeat: int
    state: ItemState
    error: str = ""
    score: float | None = None
    passed: bool | None = None
    checks: dict[str, CheckResult] = {}
    judge_scores: dict[str, float | None] = {}
    grades: dict[str, float] = {}
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost: float | None = None
    price_id: str = ""
    lost_cost: float = 0.0
    lost_calls: int = 0
    first_token_ms: int | None = None
    total_ms: int | None = None
    finish: str = ""
    attempts: int = 1
    reused: bool = False
    reply_text: str = ""
    started_at: datetime | None = None
