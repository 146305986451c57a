"""Reports of runs drawn at random, with entrants, cases and metrics of which any part is absent."""

from collections.abc import Iterator

import msgspec
import numpy as np
import pytest

from benchmarks.statistics.clusters import Clusters, clustered_means
from benchmarks.statistics.comparison import compare_runs
from benchmarks.statistics.figures import compute_figures
from benchmarks.statistics.inputs import RunInputs
from benchmarks.statistics.payload import Interval, Metric, Pair, ReportPayload
from benchmarks.statistics.scores import Kind
from tests.worlds.benchmarks.run_inputs import run_inputs

FAILURES = (Kind.WRONG, Kind.MISSING, Kind.UNSCORED)
NOTHING = Interval(None, None, None)


def drawn_values(rng, shape):
    """Return shares, passes, equal values, or values without bounds."""
    return [
        lambda: (rng.random(shape) < rng.random((shape[0], 1, 1))).astype(float),
        lambda: rng.random(shape),
        lambda: np.full(shape, rng.choice([0.0, 1.0, 0.3, 1e-9, -2.5])),
        lambda: rng.normal(size=shape) * 10.0 ** rng.choice([-300, -160, -3, 0, 6, 150, 300]),
    ][rng.integers(4)]()


def drawn_kinds(rng, shape):
    """Return entrants with all scores, none, one, some, or most."""
    kinds = np.full(shape, Kind.SCORED, dtype=np.int8)
    for of_entrant in kinds:
        match rng.integers(6):
            case 0:
                of_entrant[:] = rng.choice(FAILURES)
            case 1:
                of_entrant[:] = rng.choice(FAILURES, shape[1:])
            case 2 if of_entrant.size:
                of_entrant[:] = rng.choice([Kind.MISSING, Kind.UNSCORED])
                of_entrant.flat[rng.integers(of_entrant.size)] = Kind.SCORED
            case 3:
                of_entrant[:] = rng.choice([Kind.SCORED, *FAILURES], shape[1:], p=[0.7, 0.1, 0.1, 0.1])
    return kinds


def drawn_run(seed) -> RunInputs:
    rng = np.random.default_rng(seed)
    entrants, cases, _repeats = shape = (
        int(rng.integers(1, 6)),
        int(rng.choice([0, 1, 2, 3, 9, 25])),
        int(rng.choice([1, 3])),
    )
    kinds, values = drawn_kinds(rng, shape), drawn_values(rng, shape)
    values[(kinds != Kind.SCORED) | (rng.random(shape) < rng.choice([0, 0, 0.3]))] = np.nan
    style = drawn_values(rng, shape)
    style[rng.random(shape) < 0.5] = np.nan
    metrics = {"passed": np.where(np.isnan(values), np.nan, values > 0), "style": style, "none": np.full(shape, np.nan)}
    weights = [np.ones(cases), np.zeros(cases), rng.choice([0, 0.5, 2], cases), 10.0 ** rng.integers(-6, 7, cases)]
    clusters = [None, ["same"] * cases, [str(case // 2) for case in range(cases)]]
    tags = [None, [("all",)] * cases, [("odd",) if case % 2 else ("even", "other") for case in range(cases)]]
    return run_inputs(
        values, kinds=kinds, weights=weights[rng.choice(4, p=[0.5, 0.05, 0.2, 0.25])].tolist(),
        clusters=clusters[rng.integers(3)], tags=tags[rng.integers(3)], baseline=rng.choice([None, entrants - 1]),
        metrics={name: metrics[name] for name in metrics if rng.random() < 0.5},
        errors_count=str(rng.choice(["missing", "wrong"])), relevant_difference=rng.choice([None, 0.1, 1e-200]),
    )  # fmt: skip


def intervals(payload: object) -> Iterator[dict[str, float | None]]:
    if isinstance(payload, dict):
        if payload.keys() == {"value", "low", "high"}:
            yield payload
        payload = list(payload.values())
    if isinstance(payload, list):
        for part in payload:
            yield from intervals(part)


def assert_absent_entrants_have_no_figures(report: ReportPayload) -> None:
    primary = report.metrics[0]
    absent = {mean.entrant for mean in primary.means if not mean.scored}
    assert absent == {mean.entrant for mean in primary.means if mean.note == "no_scores"}
    for mean in primary.means:
        if mean.entrant in absent:
            assert (mean.mean, mean.se, mean.clusters, mean.cases, mean.is_complete) == (NOTHING, None, 0, 0, False)
    for pair in (pair for metric in report.metrics for pair in pairs_of(metric)):
        if not pair.cases:
            figures = (pair.se, pair.joint, pair.p, pair.exact_p, pair.holm_p, pair.cases_needed, pair.repeats_needed)
            assert (pair.difference, set(figures), bool(pair.is_separable)) == (NOTHING, {None}, False)
    assert not absent & {rank.entrant for rank in report.ranks}
    assert all(1 <= rank.best <= rank.worst <= len(report.ranks) for rank in report.ranks)
    assert not absent & {usage.entrant for usage in report.usage if usage.is_on_front}


def pairs_of(metric: Metric) -> list[Pair]:
    return [*metric.pairs, *metric.against_baseline]


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_drawn_runs_have_finite_or_absent_figures(part):
    previous = drawn_run(part)
    for seed in range(part, 160, 4):
        run = drawn_run(seed)
        report, compared = compute_figures(run), compare_runs(previous, run)
        for payload in (report, compared):
            text = msgspec.json.encode(payload)  # infinities and NaN would become null
            assert msgspec.json.decode(text, type=type(payload)) == payload, seed
            for interval in intervals(msgspec.json.decode(text)):
                bounds = [interval[name] for name in ("low", "value", "high") if interval[name] is not None]
                assert bounds == sorted(bounds), (seed, interval)
        assert_absent_entrants_have_no_figures(report)
        previous = run


@pytest.mark.parametrize("kind", [Kind.MISSING, Kind.UNSCORED])
def test_entrant_without_scores_changes_no_other(kind):
    rng = np.random.default_rng(3)
    values = (rng.random((4, 60, 2)) < np.array([0.9, 0.7, 0.5, 0.2])[:, None, None]).astype(float)
    kinds = np.full(values.shape, Kind.SCORED, dtype=np.int8)
    kinds[3], values[3] = kind, np.nan
    kinds[2, :30], values[2, :30] = kind, np.nan  # incomplete, and so in no family either
    whole = compute_figures(run_inputs(values, kinds=kinds, metrics={"passed": values}))
    two = compute_figures(run_inputs(values[:2], kinds=kinds[:2], metrics={"passed": values[:2]}))
    assert whole.ranks == two.ranks
    first, alone = whole.metrics[0], two.metrics[0]
    assert (first.bound, first.means[:2], first.pairs[:1]) == (alone.bound, alone.means, alone.pairs)


def test_case_with_nearly_all_weight_leaves_one_degree():
    weights = np.array([1.0, 1e-5, 1e-6, 1e-6])
    means = clustered_means(np.array([[1.0, 0, 1, 0]]), weights, Clusters.from_codes(np.arange(4)))
    assert means.df == pytest.approx([1.0])
