"""Report of a run from the rows of its export."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from typing import BinaryIO

import msgspec
import numpy as np

from benchmarks.statistics.figures import compute_figures
from benchmarks.statistics.headers import PASSED, SCORE, CaseHeader, EntrantHeader, RunHeader
from benchmarks.statistics.inputs import RunInputs, Usage
from benchmarks.statistics.payload import ReportPayload
from benchmarks.statistics.rows import NOT_EXTRACTED, NOT_MEASURED, WRONG_ERRORS, CheckResult, ItemRow
from benchmarks.statistics.scores import Kind


class NotOneRun(Exception):
    """Rows are of no run, of several, or contain an item twice."""


def recompute(rows: Iterable[ItemRow]) -> ReportPayload:
    """Return the report of the run whose items these are, in any order. Raises NotOneRun."""
    return compute_figures(inputs_from_rows(rows))


def read_rows(file: BinaryIO) -> Iterator[ItemRow]:
    """Read JSON lines. Raises msgspec.ValidationError for a line that is not an item."""
    decoder = msgspec.json.Decoder(ItemRow)
    return (decoder.decode(line) for line in file if line.strip())


def inputs_from_rows(rows: Iterable[ItemRow]) -> RunInputs:
    """Return the inputs of a report; items without a row are missing. Raises NotOneRun."""
    # A row with its reply is large: of each, only what the report needs is kept.
    headers: set[RunHeader] = set()
    entrants: dict[str, EntrantHeader] = {}
    cases: dict[str, CaseHeader] = {}
    items = [_Item.from_row(row, headers, entrants, cases) for row in rows]
    if len(headers) != 1:
        raise NotOneRun(f"{len(headers)} runs")
    row_of = {entrant: place for place, entrant in enumerate(entrants)}
    column_of = {case: place for place, case in enumerate(cases)}
    shape = (len(entrants), len(cases), 1 + max(item.repeat for item in items))
    place = tuple(
        np.array(indices)
        for indices in zip(*((row_of[item.entrant], column_of[item.case], item.repeat) for item in items), strict=True)
    )
    flat = np.ravel_multi_index(place, shape)
    if len(np.unique(flat)) != len(flat):
        raise NotOneRun("an item has two rows")
    kinds = np.full(shape, Kind.MISSING, dtype=np.int8)
    kinds[place] = [item.kind for item in items]

    def spread(numbers: Sequence[float | None]) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        values = np.full(shape, np.nan)
        values[place] = np.array(numbers, dtype=float)
        return values

    metrics = sorted({metric for item in items for metric in item.values})
    used = zip(*(item.usage for item in items), strict=True)
    usage = Usage(**{field.name: spread(numbers) for field, numbers in zip(fields(Usage), used, strict=True)})
    not_extracted = np.bincount(place[0], weights=[item.is_not_extracted for item in items], minlength=shape[0])
    values = {metric: spread([item.values.get(metric) for item in items]) for metric in {SCORE, *metrics}}
    return RunInputs(
        headers.pop(), list(entrants.values()), list(cases.values()), values, kinds, usage,
        not_extracted.astype(np.int64),
    )  # fmt: skip


def run_header(row: ItemRow) -> RunHeader:
    return RunHeader(
        run=row.run, template=row.template, version_digest=row.version_digest, errors_count=row.errors_count,
        relevant_difference=row.relevant_difference,
    )  # fmt: skip


def entrant_header(row: ItemRow) -> EntrantHeader:
    return EntrantHeader(
        entrant=row.entrant, model=row.model, model_version=row.model_version, prompt_label=row.prompt_label,
        is_baseline=row.is_baseline,
    )  # fmt: skip


class _Item(msgspec.Struct, frozen=True):
    """usage: in the order of the fields of Usage."""

    entrant: str
    case: str
    repeat: int
    kind: Kind
    values: dict[str, float]
    usage: tuple[float | None, ...]
    is_not_extracted: bool

    @classmethod
    def from_row(
        cls,
        row: ItemRow,
        headers: set[RunHeader],
        entrants: dict[str, EntrantHeader],
        cases: dict[str, CaseHeader],
    ) -> "_Item":
        headers.add(run_header(row))
        if row.entrant not in entrants:
            entrants[row.entrant] = entrant_header(row)
        if row.case_key not in cases:
            cases[row.case_key] = CaseHeader(
                key=row.case_key, digest=row.case_digest, weight=row.case_weight, cluster=row.cluster, tags=row.tags
            )
        usage = (
            row.cost,
            row.lost_cost,
            row.lost_calls,
            row.first_token_ms,
            row.total_ms,
            row.prompt_tokens,
            row.completion_tokens,
            row.reasoning_tokens,
            float(row.reused),
        )
        is_not_extracted = row.error == NOT_EXTRACTED or any(
            check.error == NOT_EXTRACTED for check in row.checks.values()
        )
        return cls(row.entrant, row.case_key, row.repeat, _kind(row), _values(row), usage, is_not_extracted)


def _kind(row: ItemRow) -> Kind:
    if row.error in WRONG_ERRORS:
        return Kind.WRONG
    if row.state in {"queued", "answering", "left_out"}:
        return Kind.NOT_ASKED
    return Kind.SCORED if row.state in {"answered", "scored"} else Kind.MISSING


def _values(row: ItemRow) -> dict[str, float]:
    """Return the values of metrics, as item_score does: with an unscored check a metric has none."""
    values: dict[str, float] = {}
    if row.score is not None:
        values[SCORE] = row.score
    if row.passed is not None:
        values[PASSED] = float(row.passed)
    metrics: dict[str, list[CheckResult]] = {}
    for _, check in sorted(row.checks.items()):
        if check.metric and check.error != NOT_MEASURED:
            metrics.setdefault(check.metric, []).append(check)
    for metric, checks in metrics.items():
        has_weights = any(check.weight for check in checks)
        pairs = [(check.weight if has_weights else 1.0, check.value) for check in checks if check.value is not None]
        if len(pairs) == len(checks):
            values[metric] = sum(weight * value for weight, value in pairs) / sum(weight for weight, _ in pairs)
    return values
