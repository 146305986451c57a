"""Payload of a report; numbers that do not exist are None."""

from typing import Literal

import msgspec

from benchmarks.statistics.inputs import EntrantHeader, RunHeader

Number = float | None


class Interval(msgspec.Struct, frozen=True):
    """Estimate with its 95 % interval."""

    value: Number
    low: Number
    high: Number


class Mean(msgspec.Struct, frozen=True, kw_only=True):
    """Mean of a metric. lowest, highest: with all missing scores as 0 and as 1; coverage: scored / planned items.

    is_complete: coverage is 95 % or more, otherwise the entrant is not ranked. note: why there is no interval.
    """

    entrant: str
    mean: Interval
    se: Number
    clusters: int
    cases: int
    planned: int
    scored: int
    wrong: int
    missing: int
    unscored: int
    coverage: float
    is_complete: bool
    lowest: Number
    highest: Number
    note: Literal["", "no_scores", "one_cluster", "all_equal"]


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """Difference first − second on common cases.

    difference: with its pointwise interval; joint: holds for all pairs of the family together; is_separable: None if a
    side is incomplete. exact_p: McNemar's. holm_p: of secondary metrics. between, within: variances of a case's
    difference; noise: where more data helps. cases_needed, repeats_needed: in all, None if unknown or without limit.
    """

    first: str
    second: str
    cases: int
    clusters: int
    difference: Interval
    se: Number
    joint: Interval | None
    is_separable: bool | None
    p: Number
    exact_p: Number
    holm_p: Number
    between: Number
    within: Number
    noise: Literal["cases", "repeats", "unknown"]
    cases_needed: int | None
    repeats_needed: int | None


class Metric(msgspec.Struct, frozen=True, kw_only=True):
    """Metric with all pairs, and with pairs against the baseline if there is one. bound: joint critical value."""

    metric: str
    is_primary: bool
    is_binary: bool
    means: list[Mean]
    pairs: list[Pair]
    bound: Number
    against_baseline: list[Pair]
    baseline_bound: Number


class Rank(msgspec.Struct, frozen=True):
    """Range of an entrant's rank; all ranges hold together with 95 %."""

    entrant: str
    best: int
    worst: int
    is_in_best_group: bool


class PassRate(msgspec.Struct, frozen=True):
    entrant: str
    measure: str
    k: int
    cases: int
    mean: Interval
    se: Number


class EntrantUsage(msgspec.Struct, frozen=True, kw_only=True):
    """Cost, tokens and times. cost: of answers that were not reused; cost_per_item and _per_point: of these.

    is_surely_dominated: another entrant is separably better and its cost interval is below this one's.
    """

    entrant: str
    cost: float
    lost_cost: float
    lost_calls: int
    reused: int
    not_extracted: int
    cost_per_item: Interval
    cost_per_point: Interval
    prompt_tokens: int
    completion_tokens: int
    reasoning_tokens: int
    first_token_p50: Interval
    first_token_p95: Interval
    total_p50: Interval
    total_p95: Interval
    is_on_front: bool
    is_surely_dominated: bool


class TagMean(msgspec.Struct, frozen=True):
    """Mean of a tag's cases, exploratory; holm_p: its difference from the other cases, over all tags and entrants."""

    tag: str
    entrant: str
    cases: int
    mean: Interval
    difference: Number
    p: Number
    holm_p: Number


class ReportPayload(msgspec.Struct, frozen=True, kw_only=True):
    method: str
    digest: str
    header: RunHeader
    entrants: list[EntrantHeader]
    cases: int
    clusters: int
    repeats: int
    metrics: list[Metric]
    ranks: list[Rank]
    passes: list[PassRate]
    usage: list[EntrantUsage]
    tags: list[TagMean]
    tags_left_out: int
