"""Payload of a report; numbers that do not exist are None."""

from math import isfinite
from typing import Literal

import msgspec

from benchmarks.statistics.headers import EntrantHeader, RunHeader

Number = float | None


def number(value: float) -> Number:
    """Return None for NaN and infinities."""
    return float(value) if isfinite(value) else None


class Interval(msgspec.Struct, frozen=True):
    """Estimate with its 95 % interval."""

    value: Number
    low: Number
    high: Number


class Mean(msgspec.Struct, frozen=True, kw_only=True):
    """Mean of a metric."""

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
    coverage: float  # scored / planned items
    is_complete: bool  # coverage is 95 % or more; otherwise the entrant is not ranked
    lowest: Number  # with all missing scores as 0
    highest: Number  # with all missing scores as 1
    note: Literal["", "no_scores", "one_cluster", "all_equal"]


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """Difference first − second on common cases."""

    first: str
    second: str
    cases: int
    clusters: int
    difference: Interval  # pointwise
    se: Number
    joint: Interval | None  # holds for all pairs of the family together
    is_separable: bool | None  # None if a side is incomplete
    p: Number
    exact_p: Number  # McNemar's
    holm_p: Number  # of secondary metrics
    between: Number  # variances of a case's difference
    within: Number
    noise: Literal["cases", "repeats", "unknown"]  # where more data helps
    cases_needed: int | None  # in all; None if unknown or without limit
    repeats_needed: int | None


class Metric(msgspec.Struct, frozen=True, kw_only=True):
    """Metric with all pairs, and with pairs against the baseline if there is one."""

    metric: str
    is_primary: bool
    is_binary: bool
    means: list[Mean]
    pairs: list[Pair]
    bound: Number  # joint critical value
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
    """Cost, tokens and times of answers that were not reused."""

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
    is_surely_dominated: bool  # by a separably better entrant whose cost interval is below this one's


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


class EntrantComparison(msgspec.Struct, kw_only=True):
    """Difference newer − older of one entrant on matched cases."""

    older: str
    newer: str
    cases: int
    difference: Interval
    p: Number
    holm_p: Number = None  # over entrants
    broken: list[str]  # keys of cases that were right and are wrong
    mended: list[str]
    expected_flips: Number  # of both kinds, by repeats alone; None if unknown
    reused_cases: int  # with a reused answer: the difference may be 0 by construction


class RunComparison(msgspec.Struct, frozen=True):
    older: str
    newer: str
    matched: int
    new: int
    gone: int
    entrants: list[EntrantComparison]
