"""Inputs of a run's report, read by columns; `statistics.recompute` makes the same of the rows of an export."""

from collections.abc import Sequence
from dataclasses import fields
from itertools import groupby

import numpy as np

from benchmarks.item_rows import read_cases, shared_rows
from benchmarks.models import Run
from benchmarks.sql import read_sql
from benchmarks.statistics.clusters import Floats, Indices
from benchmarks.statistics.headers import PASSED, SCORE
from benchmarks.statistics.inputs import RunInputs, Usage
from benchmarks.statistics.recompute import NotOneRun, entrant_header, run_header
from benchmarks.statistics.rows import WRONG_ERRORS
from benchmarks.statistics.scores import Kind
from leaderboard.counting.columns import FloatColumns, read_float_columns

_USAGE = tuple(field.name for field in fields(Usage))
_ITEM = ("item", "entrant", "case_id", "repeat", "kind", "not_extracted", "score", "passed", *_USAGE)
_SCORE = ("item", "value", "weight", "not_extracted", "is_measured")


def read_inputs(run: Run) -> RunInputs:
    """Return the inputs of a run's report. Raises NotOneRun for a run without items."""
    found = read_float_columns(read_sql("report_items.sql"), {"run": run.pk, "wrong": list(WRONG_ERRORS)}, _ITEM)
    items = dict(found).get(())
    if items is None:
        raise NotOneRun("the run has no items")
    entrants, row = np.unique(items["entrant"], return_inverse=True)
    cases, column = np.unique(items["case_id"], return_inverse=True)
    repeat = items["repeat"].astype(np.int64)
    shape = (len(entrants), len(cases), 1 + int(repeat.max()))

    def spread(numbers: Floats, absent: float = np.nan) -> Floats:
        places = np.full(shape, absent)
        places[row, column, repeat] = numbers
        return places

    values, is_not_extracted = _values(run, items)
    headings, facts = shared_rows(run), read_cases(run)
    shared = [headings[int(pk)] for pk in entrants]
    return RunInputs(
        header=run_header(shared[0]),
        entrants=[entrant_header(heading) for heading in shared],
        cases=[facts[int(pk)] for pk in cases],
        values={metric: spread(numbers) for metric, numbers in values.items()},
        kinds=spread(items["kind"], Kind.MISSING).astype(np.int8),
        usage=Usage(**{name: spread(items[name]) for name in _USAGE}),
        not_extracted=np.bincount(row, weights=is_not_extracted, minlength=len(entrants)).astype(np.int64),
    )


def _values(run: Run, items: FloatColumns) -> tuple[dict[str, Floats], Floats]:
    """Return the items' values by metric, and 1 for each from which nothing was extracted."""
    order = np.argsort(items["item"])
    values, is_not_extracted = {SCORE: items["score"], PASSED: items["passed"]}, items["not_extracted"]
    scores = read_float_columns(read_sql("report_scores.sql"), {"run": run.pk}, _SCORE, by=("metric", "check_key"))
    for metric, found in groupby(scores, key=lambda score: score[0][0]):
        checks = [(order[np.searchsorted(items["item"], score["item"], sorter=order)], score) for _, score in found]
        for rows, score in checks:
            is_not_extracted[rows[score["not_extracted"] > 0]] = 1
        if metric:
            means = _means(checks, len(order))
            values[metric] = np.where(np.isnan(means), values.get(metric, means), means)
    kept = {metric: found for metric, found in values.items() if metric == SCORE or not np.isnan(found).all()}
    return kept, is_not_extracted


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
