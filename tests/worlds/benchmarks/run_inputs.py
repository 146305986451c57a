from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from benchmarks.statistics.clusters import Floats
from benchmarks.statistics.headers import CaseHeader, EntrantHeader, RunHeader
from benchmarks.statistics.inputs import RunInputs, Usage
from benchmarks.statistics.scores import Kind, Kinds, Scores


def scores(values: ArrayLike, *, weights: ArrayLike | None = None, clusters: ArrayLike | None = None) -> Scores:
    """Return scores without failures. values: shape (entrants, cases) or (entrants, cases, repeats)."""
    array = np.asarray(values, dtype=float)
    array = array[:, :, None] if array.ndim == 2 else array
    cases = array.shape[1]
    return Scores.from_items(
        array,
        np.zeros(array.shape, dtype=np.int8),
        np.ones(cases) if weights is None else np.asarray(weights, dtype=float),
        np.arange(cases) if clusters is None else np.asarray(clusters),
        errors_count="missing",
    )


def run_inputs(
    values: Floats,
    *,
    kinds: Kinds | None = None,
    weights: Sequence[float] | None = None,
    clusters: Sequence[str] | None = None,
    tags: Sequence[tuple[str, ...]] | None = None,
    baseline: int | None = None,
    metrics: dict[str, Floats] | None = None,
    errors_count: str = "missing",
    relevant_difference: float | None = None,
) -> RunInputs:
    """Return inputs with scores of shape (entrants, cases, repeats); times and cost grow with the entrant's number."""
    entrants, cases = values.shape[:2]
    place = np.arange(values.size, dtype=float).reshape(values.shape) % 97
    number = np.arange(1, entrants + 1)[:, None, None]
    zeros = np.zeros(values.shape)
    return RunInputs(
        header=RunHeader(
            run="run", template="template", version_digest="v1",
            errors_count=errors_count, relevant_difference=relevant_difference,
        ),
        entrants=[
            EntrantHeader(entrant=f"entrant {row:02}", model=f"model {row}", is_baseline=row == baseline)
            for row in range(entrants)
        ],
        cases=[
            CaseHeader(
                key=f"case {column:05}",
                digest=f"digest {column}",
                weight=1.0 if weights is None else weights[column],
                cluster="" if clusters is None else clusters[column],
                tags=() if tags is None else tags[column],
            )
            for column in range(cases)
        ],
        values={"score": values, **(metrics or {})},
        kinds=np.full(values.shape, Kind.SCORED, dtype=np.int8) if kinds is None else kinds,
        usage=Usage(
            cost=(1 + place) * number / 1e4, lost_cost=zeros, lost_calls=zeros, first_token_ms=100 * number + place,
            total_ms=1000 * number + place, prompt_tokens=10 + zeros, completion_tokens=20 + zeros,
            reasoning_tokens=zeros, is_reused=zeros,
        ),
        not_extracted=np.zeros(entrants, dtype=np.int64),
    )  # fmt: skip
