from typing import Annotated, Literal, NotRequired, TypedDict

import msgspec

from common.payload_types import JsonObject, Moment

AnyJson = Annotated[object, msgspec.Meta(extra_json_schema={"description": "Any JSON value."})]

TemplateKind = Literal["text", "chat", "choice", "images"]
Visibility = Literal["private", "site"]
VersionState = Literal["draft", "frozen"]
ErrorsCount = Literal["missing", "wrong"]
RunState = Literal["preparing", "queued", "running", "paused", "scoring", "done", "failed", "cancelled"]
ItemState = Literal["queued", "answering", "answered", "scored", "failed", "skipped", "left_out"]


class TemplateMessagePayload(TypedDict):
    role: str
    template: str


class TemplatePromptPayload(TypedDict):
    """`number` counts from 1; `turns` are follow-ups."""

    number: int
    label: str
    messages: list[TemplateMessagePayload]
    turns: list[str]


class TemplateCheckPayload(TypedDict):
    """Check of an answer. Without `target` it compares with the case's `expected`."""

    key: str
    scorer: str
    target: AnyJson
    settings: JsonObject
    extract: list[JsonObject]
    weight: float
    negate: bool
    threshold: float | None
    is_gate: bool
    metric: str


class CaseFilePayload(TypedDict):
    """`upload` is the file's id; templates read its name in `variable`."""

    variable: str
    upload: str


class CasePayload(TypedDict):
    key: str
    variables: JsonObject
    expected: AnyJson
    messages: list[JsonObject] | None
    checks: list[JsonObject] | None
    cluster: str
    tags: list[str]
    metadata: JsonObject
    weight: float
    files: list[CaseFilePayload]


class StoredCasesPayload(TypedDict):
    stored: int
    case_count: int


class TemplateVersionPayload(TypedDict):
    """Version of a template. A `frozen` one never changes; equal contents have equal digests."""

    number: int
    state: VersionState
    digest: str
    case_count: int
    frozen_at: Moment | None


class TemplateSummaryPayload(TypedDict):
    """Template with its newest `version`. `mine`: you may change it. `team`: address of the one that owns it; missing
    without one."""

    id: str
    name: str
    description: str
    kind: TemplateKind
    visibility: Visibility
    held_out: bool
    archived: bool
    mine: bool
    version: TemplateVersionPayload | None
    created_at: Moment
    team: NotRequired[str]


class TemplatePayload(TemplateSummaryPayload):
    """Template with its newest contents; `prompts` and `checks` are null if held out."""

    variables: JsonObject
    parameters: JsonObject
    errors_count: ErrorsCount
    threshold: float | None
    relevant_difference: float | None
    prompts: list[TemplatePromptPayload] | None
    checks: list[TemplateCheckPayload] | None


class ExportedTemplatePayload(TemplatePayload):
    """Template in a member's export."""

    cases: list[CasePayload]


class TooLongPayload(TypedDict):
    """Cases beyond a model's context; the first keys."""

    model: str
    prompt: int
    count: int
    cases: list[str]


class PowerPayload(TypedDict):
    """Difference of scores, from 0 to 1, that so many cases tell apart in 4 of 5 runs."""

    cases: int
    difference: float


class EstimatePayload(TypedDict):
    """Cost of a run in US dollars. `max_cost`: with answers up to their maximum length. `minutes`: at the pace of
    earlier runs, null before a model's first answer. `power`: by the template's last run.
    """

    items: int
    tokens: int
    expected_cost: str
    max_cost: str
    too_long: list[TooLongPayload]
    minutes: int | None
    power: PowerPayload | None


class EntrantPayload(TypedDict):
    """Model with a prompt of the version. `counts`: numbers of items by state. `failures`: in a row, the last one with
    `error`. Nothing is asked before `next_try_at`, or if `is_halted` until the run is resumed."""

    id: int
    name: str
    model: str | None
    prompt: int
    prompt_label: str
    parameters: JsonObject
    is_baseline: bool
    counts: dict[str, int]
    failures: int
    error: str
    next_try_at: Moment | None
    is_halted: bool
    left_out_at: Moment | None


class RunSummaryPayload(TypedDict):
    """Benchmark run. `reason` says why it is paused or failed. Amounts are US dollars; those of another member's run
    are null. `mine`: you may change it. `team`: as in a template."""

    id: str
    name: str
    template: str
    template_name: str
    version: int
    state: RunState
    reason: str
    repeats: int
    concurrency: int
    budget: str | None
    spent: str | None
    reserved: str | None
    entrant_count: int
    items: int
    finished: int
    failed: int
    is_published: bool
    mine: bool
    created_at: Moment
    started_at: Moment | None
    finished_at: Moment | None
    team: NotRequired[str]


class RunPayload(RunSummaryPayload):
    """Run with its entrants. `problems` are of cases that cannot be asked. `waits`: reasons why items wait.
    `minutes_left` leaves out entrants that stand still. `stream_url` is null once the run has ended."""

    entrants: list[EntrantPayload]
    problems: list[str]
    waits: list[str]
    minutes_left: int | None
    stream_url: str | None


class ItemPayload(TypedDict):
    """One case asked of one entrant. `repeat` counts from 0. `score` is from 0 to 1, null while or if unscored."""

    id: str
    entrant: int
    model: str | None
    case: str
    repeat: int
    state: ItemState
    error: str
    score: float | None
    passed: bool | None
    attempts: int
    finished_at: Moment | None


class ItemPagePayload(TypedDict):
    count: None
    next: str | None
    previous: None
    results: list[ItemPayload]


class SentMessagePayload(TypedDict):
    role: str
    content: AnyJson


class ItemTurnPayload(TypedDict):
    """Reply of a turn; `question` is the follow-up before it. `html` is `text` rendered to safe HTML."""

    question: str
    text: str
    html: str
    reasoning: str
    finish: str
    prompt_tokens: int | None
    completion_tokens: int | None
    reasoning_tokens: int | None
    cost: str | None
    first_token_ms: int | None
    total_ms: int | None


class ItemScorePayload(TypedDict):
    """Result of a check. Without a `value` it has an `error`, and the item no score."""

    check: str
    source: str
    value: float | None
    passed: bool | None
    error: str
    detail: AnyJson


class ItemAttemptPayload(TypedDict):
    turn: int
    state: str
    error: str
    message: str
    started_at: Moment | None


class ItemDetailPayload(ItemPayload):
    """Item with all that is known about it."""

    expected: AnyJson
    messages: list[SentMessagePayload]
    files: list[CaseFilePayload]
    turns: list[ItemTurnPayload]
    scores: list[ItemScorePayload]
    log: list[ItemAttemptPayload]


class LeftOutPayload(TypedDict):
    """Entrant that was left out. `answers`, `items`: numbers."""

    run: str
    entrant: int
    name: str
    answers: int
    items: int


class RunReportPayload(TypedDict):
    """Report of a run; docs/benchmarks-method.md describes `report`. `number` is 0 for the answers so far."""

    number: int
    computed_at: Moment
    left_out: list[LeftOutPayload]
    report: AnyJson


class ComparisonPayload(TypedDict):
    """The later run against the earlier one; docs/benchmarks-method.md describes `comparison`."""

    older: str
    newer: str
    left_out: list[LeftOutPayload]
    comparison: AnyJson


class HeatCellPayload(TypedDict):
    """Mean score of a model in the newest finished run of a template."""

    model: str
    template: str
    run: str
    value: float | None
    low: float | None
    high: float | None
    is_complete: bool


class HeatAveragePayload(TypedDict):
    model: str
    value: float
    low: float
    high: float


class HeatMapPayload(TypedDict):
    """averages: of the models with complete results in all templates, if asked for."""

    cells: list[HeatCellPayload]
    averages: list[HeatAveragePayload]


class ImportLinePayload(TypedDict):
    """Line of an import's report; `line` and `column` count from 1, 0 is unknown."""

    action: str
    code: str
    sentence: str
    line: int
    column: int
    file: str


class ImportColumnPayload(TypedDict):
    """Column of a table; `role` is empty in formats that go by names."""

    name: str
    role: str


class ImportPayload(TypedDict):
    """Content of a file that is not stored yet."""

    id: str
    format: str
    name: str
    prompts: int
    checks: int
    cases: int
    answers: int
    files: int
    columns: list[ImportColumnPayload]
    report: list[ImportLinePayload]


class GradePayload(TypedDict):
    kind: Literal["pass", "stars"]
    value: int
    comment: str
    created_at: Moment


class BattleJudgementPayload(TypedDict):
    """outcome: 1 if the left answer is better, ½, or 0; null without a verdict."""

    battle: str
    judge: str
    number: int
    first_shown: str
    outcome: float | None
    answer: str
    finished_at: Moment | None
