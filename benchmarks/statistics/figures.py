"""Figures of a run, computed from its inputs alone."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

import numpy as np
from msgspec import structs
from scipy.special import stdtr

from benchmarks.statistics import paired, sample_sizes
from benchmarks.statistics.clusters import Flags, Floats, clustered_means
from benchmarks.statistics.headers import PASSED, SCORE
from benchmarks.statistics.inputs import RunInputs
from benchmarks.statistics.means import t_interval, unit_interval
from benchmarks.statistics.multiple import StepDown, holm, step_down
from benchmarks.statistics.paired import PairedDifferences, Pairs
from benchmarks.statistics.passes import pass_rates
from benchmarks.statistics.payload import Interval, Mean, Metric, Pair, PassRate, Rank, ReportPayload, TagMean, number
from benchmarks.statistics.scores import Kind, Scores
from benchmarks.statistics.tags import MAX_TAGS, holm_of_tags, tag_means
from benchmarks.statistics.usage import usage_of

METHOD = "benchmark-report-2"
MIN_COVERAGE = 0.95


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # figures that do not exist are None
def compute_figures(inputs: RunInputs) -> ReportPayload:
    """Return everything that a report stores. The order of entrants and cases in the inputs does not matter."""
    inputs = inputs.sorted()
    primary = _Comparison(inputs, SCORE)
    # One after the other, because the arrays of a large run's metric are megabytes.
    secondary = [_Comparison(inputs, metric).payload(is_primary=False) for metric in _secondary_metrics(inputs)]
    metrics = [primary.payload(is_primary=True), *_with_holm(secondary)]
    names = [entrant.entrant for entrant in inputs.entrants]
    return ReportPayload(
        method=METHOD,
        digest=inputs.digest(),
        header=inputs.header,
        entrants=inputs.entrants,
        cases=primary.scores.cases,
        clusters=len(primary.scores.clusters.starts),
        repeats=primary.scores.repeats,
        metrics=metrics,
        ranks=primary.ranks(),
        passes=_passes(inputs, names),
        usage=usage_of(inputs, primary.scores, primary.above()),
        tags=_tags(inputs, primary.scores, names),
        tags_left_out=max(0, len(inputs.tags()) - MAX_TAGS),
    )


class _Comparison:
    """Means and differences of one metric. Incomplete entrants are in no family of joint comparisons."""

    def __init__(self, inputs: RunInputs, metric: str) -> None:
        self.metric = metric
        self.names = [entrant.entrant for entrant in inputs.entrants]
        self.relevant_difference = inputs.header.relevant_difference if metric == SCORE else None
        self.scores = scores = inputs.scores(metric)
        self.means = clustered_means(scores.case_means, scores.weights, scores.clusters)
        planned = scores.cases * scores.repeats
        self.coverage = scores.is_present.sum(axis=(1, 2)) / max(planned, 1)
        self.is_complete: Flags = self.coverage >= MIN_COVERAGE
        self.pairs = paired.paired_differences(scores, paired.all_pairs(len(self.names)))
        self.family = self._family(self.pairs)
        baseline = next((place for place, entrant in enumerate(inputs.entrants) if entrant.is_baseline), None)
        chosen: Pairs | None = None if baseline is None else paired.against(baseline, len(self.names))
        self.to_baseline = None if chosen is None else paired.paired_differences(scores, chosen)
        self.baseline_family = None if self.to_baseline is None else self._family(self.to_baseline)

    def above(self) -> Flags:
        """Return above[i, j]: i is separably better than j, shape (entrants, entrants)."""
        above = np.zeros((len(self.names),) * 2, dtype=bool)
        above[self.pairs.first, self.pairs.second] = self.family.is_above
        above[self.pairs.second, self.pairs.first] = self.family.is_below
        return above

    def ranks(self) -> list[Rank]:
        above, ranked = self.above(), int(self.is_complete.sum())
        best, worst = 1 + above.sum(axis=0), ranked - above.sum(axis=1)
        return [
            Rank(name, int(best[place]), int(worst[place]), bool(best[place] == 1))
            for place, name in enumerate(self.names)
            if self.is_complete[place]
        ]

    def payload(self, *, is_primary: bool) -> Metric:
        return Metric(
            metric=self.metric,
            is_primary=is_primary,
            is_binary=self.scores.is_binary,
            means=self._means(),
            pairs=self._pairs(self.pairs, self.family),
            bound=number(self.family.bound),
            against_baseline=self._pairs(self.to_baseline, self.baseline_family) if self.to_baseline else [],
            baseline_bound=number(self.baseline_family.bound) if self.baseline_family else None,
        )

    def _family(self, pairs: PairedDifferences) -> StepDown:
        with np.errstate(invalid="ignore", divide="ignore"):
            statistic = pairs.centre / pairs.scale
        may_compare = self.is_complete & np.isfinite(self.means.se)
        is_member = may_compare[pairs.first] & may_compare[pairs.second] & (pairs.df > 0) & np.isfinite(statistic)
        nothing = np.zeros(len(statistic), dtype=bool)
        if not is_member.any():
            return StepDown(float("nan"), nothing, nothing)
        steps = step_down(
            statistic[is_member], float(pairs.df[is_member].min()), self.means.influence,
            pairs.first[is_member], pairs.second[is_member],
        )  # fmt: skip
        is_above, is_below = nothing.copy(), nothing.copy()
        is_above[is_member], is_below[is_member] = steps.is_above, steps.is_below
        return replace(steps, is_above=is_above, is_below=is_below)

    def _means(self) -> list[Mean]:
        scores, means = self.scores, self.means
        low, high = (
            unit_interval(means, scores.effective_items(), is_binary=scores.is_binary)
            if scores.is_bounded
            else t_interval(means)
        )
        lowest, highest = (_filled_means(scores, value) if scores.is_bounded else None for value in (0.0, 1.0))
        counts = {kind: scores.count(kind) for kind in Kind}
        has_scores = (scores.scored_repeats > 0).sum(axis=1)
        return [
            Mean(
                entrant=name,
                mean=Interval(number(means.mean[i]), number(low[i]), number(high[i])),
                se=number(means.se[i]),
                clusters=int(means.clusters[i]),
                cases=int(has_scores[i]),
                planned=scores.cases * scores.repeats,
                scored=int(scores.is_present[i].sum()),
                wrong=int(counts[Kind.WRONG][i]),
                missing=int(counts[Kind.MISSING][i]),
                unscored=int(counts[Kind.UNSCORED][i]),
                coverage=float(self.coverage[i]),
                is_complete=bool(self.is_complete[i]),
                lowest=None if lowest is None else number(lowest[i]),
                highest=None if highest is None else number(highest[i]),
                note=(
                    "no_scores" if not has_scores[i]
                    else "one_cluster" if means.clusters[i] < 2
                    else "all_equal" if means.se[i] == 0
                    else ""
                ),
            )
            for i, name in enumerate(self.names)
        ]  # fmt: skip

    def _pairs(self, pairs: PairedDifferences, family: StepDown | None) -> list[Pair]:
        return [self._pair(pairs, row, family) for row in range(len(pairs.first))]

    def _pair(self, pairs: PairedDifferences, row: int, family: StepDown | None) -> Pair:
        first, second = int(pairs.first[row]), int(pairs.second[row])
        is_ranked = bool(self.is_complete[first] and self.is_complete[second])
        joint, tail = None, sample_sizes.TAIL
        if family is not None and is_ranked and np.isfinite(family.bound) and pairs.df[row] > 0:
            half = family.bound * pairs.scale[row]
            low, high = pairs.centre[row] - half, pairs.centre[row] + half
            if self.scores.is_bounded:
                low, high = max(low, -1.0), min(high, 1.0)
            joint = Interval(number(pairs.difference[row]), number(low), number(high))
            tail = float(stdtr(pairs.df[row], family.bound))
        elif is_ranked and self.scores.is_bounded and np.isfinite(pairs.difference[row]):
            joint = Interval(number(pairs.difference[row]), -1.0, 1.0)  # one cluster tells nothing about others
        needed = self._needed(pairs, row, tail)
        between, within = number(pairs.between[row]), number(pairs.within[row])
        noise: Literal["cases", "repeats", "unknown"] = "unknown"
        if between is not None and within is not None:
            noise = "repeats" if within / self.scores.repeats > between else "cases"
        return Pair(
            first=self.names[first],
            second=self.names[second],
            cases=int(pairs.cases[row]),
            clusters=int(pairs.clusters[row]),
            difference=Interval(number(pairs.difference[row]), number(pairs.low[row]), number(pairs.high[row])),
            se=number(pairs.se[row]),
            joint=joint,
            is_separable=bool(family.is_above[row] or family.is_below[row]) if family and is_ranked else None,
            p=number(pairs.p[row]),
            exact_p=number(pairs.exact_p[row]),
            holm_p=None,
            between=between,
            within=within,
            noise=noise,
            cases_needed=needed[0],
            repeats_needed=needed[1],
        )

    def _needed(self, pairs: PairedDifferences, row: int, tail: float) -> tuple[int | None, int | None]:
        """Return cases and repeats that separate a pair at the observed or the relevant difference."""
        cases, scale = int(pairs.cases[row]), float(pairs.scale[row])
        difference = abs(float(pairs.difference[row])) if self.relevant_difference is None else self.relevant_difference
        if not (cases > 1 and scale > 0 and difference > 0):
            return None, None
        variance = scale**2 * cases
        share = (float(pairs.df[row]) + 1) / cases
        within, repeats_needed = float(pairs.within[row]), None
        if np.isfinite(within):
            # More repeats do not lessen correlation within clusters.
            between = max(variance - within / self.scores.repeats, 0.0)
            repeats_needed = sample_sizes.repeats_to_separate(
                between, within, cases, difference, repeats=self.scores.repeats, tail=tail, df=float(pairs.df[row])
            )
        return (
            sample_sizes.cases_to_separate(variance, difference, tail=tail, clusters_per_case=share),
            repeats_needed,
        )


def _with_holm(metrics: list[Metric]) -> Iterator[Metric]:
    """Yield the metrics with p-values adjusted for all pairs of all of them."""
    known = [np.nan if pair.p is None else pair.p for metric in metrics for pair in metric.pairs]
    adjusted = iter(holm(np.array(known, dtype=float)))
    for metric in metrics:
        pairs = [structs.replace(pair, holm_p=number(next(adjusted))) for pair in metric.pairs]
        yield structs.replace(metric, pairs=pairs)


def _secondary_metrics(inputs: RunInputs) -> list[str]:
    """Return all but the primary metric, without PASSED if it says the same."""
    is_same = PASSED in inputs.values and np.array_equal(inputs.values[PASSED], inputs.values[SCORE], equal_nan=True)
    return [metric for metric in inputs.values if metric != SCORE and not (metric == PASSED and is_same)]


def _filled_means(scores: Scores, value: float) -> Floats:
    """Return means with absent scores replaced by a value, shape (entrants,)."""
    filled = np.where(scores.is_present, scores.values, value).mean(axis=2)
    means: Floats = filled @ scores.weights / scores.weights.sum() if scores.cases else np.full(len(filled), np.nan)
    return means


def _passes(inputs: RunInputs, names: list[str]) -> list[PassRate]:
    if PASSED not in inputs.values or not np.isfinite(inputs.values[PASSED]).any():
        return []
    return [
        PassRate(
            name,
            rates.measure,
            rates.k,
            int(rates.cases[i]),
            Interval(number(rates.mean[i]), number(rates.low[i]), number(rates.high[i])),
            number(rates.se[i]),
        )
        for rates in pass_rates(inputs.scores(PASSED))
        for i, name in enumerate(names)
    ]


def _tags(inputs: RunInputs, scores: Scores, names: list[str]) -> list[TagMean]:
    means = tag_means(scores, inputs.tags())
    return [
        TagMean(
            tag.tag,
            name,
            int(tag.cases[i]),
            Interval(number(tag.mean[i]), number(tag.low[i]), number(tag.high[i])),
            number(tag.difference[i]),
            number(tag.p[i]),
            number(adjusted[i]),
        )
        for tag, adjusted in zip(means, holm_of_tags(means), strict=True)
        for i, name in enumerate(names)
    ]
