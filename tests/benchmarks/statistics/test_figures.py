import io

import msgspec
import numpy as np
import pytest

from benchmarks.statistics.figures import compute_figures
from benchmarks.statistics.inputs import RunInputs
from benchmarks.statistics.payload import ReportPayload
from benchmarks.statistics.recompute import NotOneRun, inputs_from_rows, read_rows, recompute
from benchmarks.statistics.rows import CheckResult, ItemRow
from benchmarks.statistics.scores import Kind
from tests.worlds.benchmarks.run_inputs import run_inputs


def binary(entrants, cases, repeats=1, *, seed=1):
    rng = np.random.default_rng(seed)
    ability = rng.normal(size=cases) + np.linspace(0, 2, entrants)[:, None]
    return (rng.random((entrants, cases, repeats)) < 1 / (1 + np.exp(-ability))[:, :, None]).astype(float)


def ones_and_zeros(entrants, cases):
    """Return scores of the first entrant 1, of the others 0."""
    return np.repeat(np.arange(entrants) == 0, cases).reshape(entrants, cases, 1).astype(float)


EDGE_CASES = {
    "all right": np.ones((3, 20, 1)),
    "all wrong": np.zeros((3, 20, 2)),
    "all right and all wrong": ones_and_zeros(3, 30),
    "one case": np.ones((2, 1, 1)),
    "one case of repeats": binary(2, 1, 5),
    "two cases": binary(2, 2),
    "one entrant": binary(1, 15),
    "equal fractions": np.full((3, 12, 1), 0.7),
    "fifty entrants": binary(50, 60),
}


@pytest.mark.slow
@pytest.mark.parametrize("values", EDGE_CASES.values(), ids=EDGE_CASES.keys())
@pytest.mark.parametrize("cluster", ["own", "one", "pairs"])
def test_no_interval_has_zero_width(values, cluster):
    cases = values.shape[1]
    clusters = {"own": None, "one": ["same"] * cases, "pairs": [str(case // 2) for case in range(cases)]}[cluster]
    metric = compute_figures(run_inputs(values, clusters=clusters, baseline=0)).metrics[0]
    intervals = [mean.mean for mean in metric.means]
    for pair in (*metric.pairs, *metric.against_baseline):
        intervals += [pair.difference, pair.joint] if pair.joint else [pair.difference]
    assert min(interval.high - interval.low for interval in intervals) > 0.001
    assert all(-1 <= interval.low <= interval.value <= interval.high <= 1 for interval in intervals)


def test_infrastructure_errors_are_bounds_not_wrong():
    values = np.r_[np.ones(80), np.zeros(20)].reshape(1, 100, 1)
    kinds = np.zeros(values.shape, dtype=np.int8)
    kinds[0, 90:] = Kind.MISSING
    mean = compute_figures(run_inputs(values, kinds=kinds)).metrics[0].means[0]
    assert (mean.mean.value, mean.lowest, mean.highest) == pytest.approx((80 / 90, 0.8, 0.9))
    assert (mean.scored, mean.planned, mean.missing, mean.is_complete) == (90, 100, 10, False)
    mean = compute_figures(run_inputs(values, kinds=kinds, errors_count="wrong")).metrics[0].means[0]
    assert (mean.mean.value, mean.scored, mean.missing, mean.is_complete) == (pytest.approx(0.8), 100, 10, True)


def test_unscored_and_wrong_items_are_told_apart():
    values = np.ones((1, 40, 1))
    values[0, :4] = np.nan
    kinds = np.zeros(values.shape, dtype=np.int8)
    kinds[0, 4:10] = Kind.WRONG
    mean = compute_figures(run_inputs(values, kinds=kinds)).metrics[0].means[0]
    assert (mean.unscored, mean.wrong, mean.missing, mean.mean.value) == (4, 6, 0, pytest.approx(30 / 36))


def test_entrant_without_scores_has_a_report():
    kinds = np.zeros((2, 10, 1), dtype=np.int8)
    kinds[0] = Kind.MISSING
    report = compute_figures(run_inputs(binary(2, 10), kinds=kinds))
    mean = report.metrics[0].means[0]
    assert (mean.note, mean.mean.value, mean.lowest, mean.highest, mean.coverage) == ("no_scores", None, 0, 1, 0)
    assert [rank.entrant for rank in report.ranks] == ["entrant 01"]
    assert report.metrics[0].pairs[0].is_separable is None


def test_cases_without_weight_change_nothing_but_cost():
    values = binary(3, 40)
    without_more = compute_figures(run_inputs(values))
    more = np.concatenate([values, 1 - values[:, :10]], axis=1)
    weighted = compute_figures(run_inputs(more, weights=[1.0] * 40 + [0.0] * 10))
    assert (weighted.metrics, weighted.ranks, weighted.cases) == (without_more.metrics, without_more.ranks, 40)


def test_order_of_entrants_and_cases_does_not_matter():
    inputs = full_inputs()
    rng = np.random.default_rng(5)
    rows, columns = rng.permutation(len(inputs.entrants)), rng.permutation(len(inputs.cases))
    place = np.ix_(rows, columns)
    shuffled = RunInputs(
        inputs.header,
        [inputs.entrants[row] for row in rows],
        [inputs.cases[column] for column in columns],
        {name: inputs.values[name][place] for name in reversed(inputs.values)},
        inputs.kinds[place],
        type(inputs.usage)(**{name: array[place] for name, array in vars(inputs.usage).items()}),
        inputs.not_extracted[rows],
    )
    assert compute_figures(shuffled) == compute_figures(inputs)


def test_report_equals_its_recomputation_from_an_export():
    inputs = full_inputs()
    lines = b"\n".join(msgspec.json.encode(row) for row in reversed(rows_of(inputs)))
    stored = msgspec.json.encode(compute_figures(inputs))
    assert msgspec.json.encode(recompute(read_rows(io.BytesIO(lines)))) == stored
    assert msgspec.json.decode(stored, type=ReportPayload) == compute_figures(inputs)


def test_rows_of_two_runs_or_twice_an_item_are_refused():
    rows = rows_of(run_inputs(binary(1, 2)))
    with pytest.raises(NotOneRun, match="2 runs"):
        recompute([*rows, msgspec.structs.replace(rows[0], run="another")])
    with pytest.raises(NotOneRun, match="two rows"):
        recompute([*rows, rows[0]])
    with pytest.raises(NotOneRun, match="0 runs"):
        recompute([])


def test_rows_become_metrics_and_kinds():
    base = rows_of(run_inputs(np.ones((1, 4, 1))))
    style = {"a": CheckResult(value=1.0, metric="style", weight=3), "b": CheckResult(value=0.0, metric="style")}
    unscored = {**style, "b": CheckResult(error="scorer_timeout", metric="style")}
    inputs = inputs_from_rows(
        [
            msgspec.structs.replace(base[0], checks=style),
            msgspec.structs.replace(base[1], checks=unscored, score=None),
            msgspec.structs.replace(base[2], state="failed", error="filtered", score=None),
            msgspec.structs.replace(base[3], state="failed", error="rate_limited", score=None, reused=True),
        ]
    )
    np.testing.assert_equal(inputs.values["style"][0, :, 0], [0.75, np.nan, np.nan, np.nan])
    kinds = inputs.scores("style").kinds[0, :, 0]
    assert list(kinds) == [Kind.SCORED, Kind.UNSCORED, Kind.WRONG, Kind.MISSING]
    usage = inputs.sorted().usage
    assert np.isnan([usage.cost[0, 3, 0], usage.total_ms[0, 3, 0]]).all()


def full_inputs():
    """Return inputs with everything that a report has: failures, metrics, weights, clusters, tags, a baseline."""
    values = binary(4, 30, 3)
    rng = np.random.default_rng(2)
    kinds = np.zeros(values.shape, dtype=np.int8)
    kinds[0, :2, 0], kinds[1, 5] = Kind.MISSING, Kind.WRONG
    style = rng.random(values.shape)
    values[2, 7, 1] = style[2, 7, 1] = np.nan
    values[kinds != Kind.SCORED] = style[kinds != Kind.SCORED] = np.nan
    return run_inputs(
        values, kinds=kinds, metrics={"style": style, "passed": values}, baseline=1,
        weights=rng.choice([0.5, 1.0, 2.0], 30).tolist(),
        clusters=[str(case // 3) if case > 10 else "" for case in range(30)],
        tags=[("short", f"tag {case % 3}") if case % 2 else () for case in range(30)],
    )  # fmt: skip


def rows_of(inputs):
    rows = []
    for entrant, case, repeat in np.ndindex(inputs.kinds.shape):
        place = entrant, case, repeat
        kind = inputs.kinds[place]
        number = {name: None if np.isnan(v[place]) else float(v[place]) for name, v in inputs.values.items()}
        named = {name: v for name, v in number.items() if name not in {"score", "passed"}}
        usage = {name: float(array[place]) for name, array in vars(inputs.usage).items()}
        head, row = inputs.cases[case], inputs.entrants[entrant]
        failed = kind in {Kind.WRONG, Kind.MISSING}
        rows.append(
            ItemRow(
                run="run", template="template", version_digest="v1", case_key=head.key, case_digest=head.digest,
                case_weight=head.weight, cluster=head.cluster, tags=head.tags, entrant=row.entrant, model=row.model,
                is_baseline=row.is_baseline, repeat=repeat, state="failed" if failed else "scored",
                error={Kind.WRONG: "empty", Kind.MISSING: "unreachable"}.get(kind, ""), score=number["score"],
                passed=None if number.get("passed") is None else bool(number["passed"]),
                checks={name: CheckResult(value=value, metric=name) for name, value in named.items()},
                cost=usage["cost"], first_token_ms=int(usage["first_token_ms"]), total_ms=int(usage["total_ms"]),
                prompt_tokens=10, completion_tokens=20, reasoning_tokens=0, reply_text="…",
            )
        )  # fmt: skip
    return rows
