"""Inputs of a run's report, read by columns; `statistics.recompute` makes the same of the rows of an export."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from itertools import groupby

import numpy as np

from benchmarks.models import Run
from benchmarks.reports.item_rows import read_cases, shared_rows
from benchmarks.sql import read_sql
from benchmarks.statistics.clusters import Floats, Indices
from benchmarks.statistics.headers import PASSED, SCORE
from benchmarks.statistics.inputs import RunInputs, Usage
from benchmarks.statistics.recompute import NotOneRun, entrant_header, run_header
from benchmarks.statistics.rows import WRONG_ERRORS, ItemRow
from benchmarks.statistics.scores import Kind
from leaderboard.counting.columns import FloatColumns, read_float_columns

_USAGE = tuple(field.name for field in fields(Usage))
_ITEM = ("item", "case_id", "repeat", "kind", "not_extracted", "score", "passed", *_USAGE)
_SCORE = ("item", "value", "weight", "not_extracted", "is_measured")


@dataclass(frozen=True)
class _Entrant:
    """One entrant's items; a run of 100,000 items is read in such parts to save memory."""

    heading: ItemRow
    items: FloatColumns
    values: dict[str, Floats]  # by metric, shape (items,)
    not_extracted: int


def read_inputs(run: Run) -> RunInputs:
    """Return the inputs of a run's report. Raises NotOneRun for a run without items."""
    entrants = [entrant for pk, heading in sorted(shared_rows(run).items()) if (entrant := _read_entrant(pk, heading))]
    if not entrants:
        raise NotOneRun("the run has no items")
    facts = read_cases(run)
    cases = np.unique(np.concatenate([entrant.items["case_id"] for entrant in entrants]))
    columns = [np.searchsorted(cases, entrant.items["case_id"]) for entrant in entrants]
    repeats = [entrant.items["repeat"].astype(np.int64) for entrant in entrants]
    shape = (len(entrants), len(cases), 1 + max(int(repeat.max()) for repeat in repeats))

    def spread(numbers: Iterable[Floats | None], absent: float = np.nan) -> Floats:
        places = np.full(shape, absent)
        for row, row_values in enumerate(numbers):
            if row_values is not None:
                places[row, columns[row], repeats[row]] = row_values
        return places

    named = {metric for entrant in entrants for metric in entrant.values} - {SCORE, PASSED}
    values = {
        metric: spread(entrant.values.pop(metric, None) for entrant in entrants)
        for metric in (SCORE, PASSED, *sorted(named))
    }
    return RunInputs(
        header=run_header(entrants[0].heading),
        entrants=[entrant_header(entrant.heading) for entrant in entrants],
        cases=[facts[int(pk)] for pk in cases],
        values={metric: array for metric, array in values.items() if metric == SCORE or not np.isnan(array).all()},
        kinds=spread((entrant.items["kind"] for entrant in entrants), Kind.MISSING).astype(np.int8),
        usage=Usage(**{name: spread(entrant.items.pop(name) for entrant in entrants) for name in _USAGE}),
        not_extracted=np.array([entrant.not_extracted for entrant in entrants]),
    )


def _read_entrant(pk: int, heading: ItemRow) -> _Entrant | None:
    """Return None without items."""
    groups = read_float_columns(read_sql("report_items.sql"), {"entrant": pk, "wrong": list(WRONG_ERRORS)}, _ITEM)
    items = dict(groups).get(())
    if items is None:
        return None
    values, is_not_extracted = _values(pk, items)
    return _Entrant(heading, items, values, int(is_not_extracted.sum()))


def _values(entrant: int, items: FloatColumns) -> tuple[dict[str, Floats], Floats]:
    """Return the items' values by metric, and 1 for each from which nothing was extracted."""
    order = np.argsort(items["item"])
    values, is_not_extracted = {SCORE: items["score"], PASSED: items["passed"]}, items["not_extracted"]
    scores = read_float_columns(read_sql("report_scores.sql"), {"entrant": entrant}, _SCORE, by=("metric", "check_key"))
    for metric, metric_scores in groupby(scores, key=lambda score: score[0][0]):
        checks = [
            (order[np.searchsorted(items["item"], score["item"], sorter=order)], score) for _, score in metric_scores
        ]
        for rows, score in checks:
            is_not_extracted[rows[score["not_extracted"] > 0]] = 1
        if metric:
            means = _means(checks, len(order))
            values[metric] = np.where(np.isnan(means), values.get(metric, means), means)
    return values, is_not_extracted


def _means(checks: Sequence[tuple[Indices, FloatColumns]], number: int) -> Floats:
    """Return a metric's values of `number` items. checks: sorted, each with the rows of its items."""
    rows = np.concatenate([rows for rows, _ in checks])
    value, weight, is_measured = (
        np.concatenate([score[name] for _, score in checks]) for name in ("value", "weight", "is_measured")
    )
    rows, value, weight = (column[is_measured > 0] for column in (rows, value, weight))
    has_weights = np.bincount(rows, weights=weight != 0, minlength=number) > 0
    weight = np.where(has_weights[rows], weight, 1.0)
    total, weights = (np.bincount(rows, weights=column, minlength=number) for column in (weight * value, weight))
    # A value that is missing is NaN, and so is the sum.
    means: Floats = np.divide(total, weights, out=np.full(number, np.nan), where=weights > 0)
    return means
