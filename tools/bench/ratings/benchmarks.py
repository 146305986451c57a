"""Coverage of the statistics of benchmark runs, and their cost."""

import resource
import time
from dataclasses import dataclass
from itertools import chain

import numpy as np

from benchmarks.statistics.figures import compute_figures
from tests.worlds.benchmarks import coverage
from tests.worlds.benchmarks.run_inputs import run_inputs
from tools.bench.ratings.calibration import Simulator
from tools.bench.ratings.report import Report

# Wilson's own interval covers 93.3 % of 200 items at p = 0.98.
MIN_COVERAGE = 0.925
# Coverage of the cells that the design was chosen by, with difficulties of another concentration.
DESIGNED = {(20, 1, 0.98): 94, (20, 5, 0.9): 94, (50, 1, 0.98): 98, (50, 5, 0.9): 96, (200, 5, 0.5): 95}
POWER = (0.75, 0.87)


def benchmark_coverage(simulator: Simulator, report: Report) -> None:
    report.heading("Benchmark runs: intervals of means hold (runs); beside them naive Wald and clustered t, and widths")
    for design in (*coverage.CELLS, *coverage.UNEQUAL, *coverage.FRACTIONS):
        parts = list(simulator.repeat(20_000, _MeanCoverageOf(design)))
        held = {name: list(chain.from_iterable(part[0][name] for part in parts)) for name in parts[0][0]}
        designed = DESIGNED.get((design.cases, design.repeats, design.rate))
        report.share(
            f"{design.name}{f' (designed: {designed} %)' if designed else ''}", held["report"], low=MIN_COVERAGE
        )
        others = " / ".join(f"{100 * np.mean(held[name]):.1f} %" for name in ("naive Wald", "clustered t"))
        widths = " ".join(f"{np.mean([part[1][name] for part in parts]):.3f}" for name in held)
        report.row("… naive Wald / clustered t; widths of all three", f"{others}; {widths}")
    report.heading("Benchmark runs: differences, single and all together, and rank ranges (runs)")
    for joint in coverage.JOINT:
        coverages = list(simulator.repeat(1000, _JointCoverageOf(joint)))
        for name in coverages[0]:
            values = list(chain.from_iterable(part[name] for part in coverages))
            report.share(f"{joint.name}: {name}", values, low=0.0 if "plain" in name else 0.95)
    report.heading("Benchmark runs: quantiles of times hold (runs)")
    for level, cases, repeats in ((0.5, 50, 1), (0.95, 200, 1), (0.5, 50, 5), (0.95, 200, 5)):
        held = list(chain.from_iterable(simulator.repeat(4000, _QuantileCoverageOf(level, cases, repeats))))
        report.share(f"p{100 * level:.0f}, {cases} cases × {repeats}", held, low=0.94)
    report.heading("Benchmark runs: the pair is separated after as many more cases as it was told (runs)")
    for rates, cases, is_known in (
        ((0.8, 0.7), 60, True), ((0.6, 0.5), 100, True), ((0.95, 0.9), 100, True),
        ((0.8, 0.7), 60, False), ((0.6, 0.5), 100, False),
    ):  # fmt: skip
        held = list(chain.from_iterable(simulator.repeat(4000, _SeparatedOf(rates, cases, is_known))))
        source = "the true difference" if is_known else "the observed difference"
        low, high = POWER if is_known else (0.0, 1.0)
        report.share(f"p = {rates}, {cases} cases, told for {source}", held, low=low, high=high)
    for rates, cases, own, shared in (
        ((0.7, 0.5), 20, 0.05, 0.2), ((0.65, 0.5), 40, 0.05, 0.2), ((0.65, 0.5), 40, 0.0, 0.5),
        ((0.6, 0.5), 100, 0.05, 0.2), ((0.6, 0.5), 100, 0.0, 0.5), ((0.56, 0.5), 200, 0.05, 0.2),
    ):  # fmt: skip
        simulated = _SeparatedByRepeatsOf(rates, cases, 2, own, shared)
        held = list(chain.from_iterable(simulator.repeat(1000, simulated)))
        title = f"p = {rates}, {cases} cases, noise of cases {own} and {shared}: told repeats, from 2"
        report.share(title, held, low=POWER[0], high=1.0)


def benchmark_report(report: Report, seed: int) -> None:
    report.heading("Report of a run: CPU time and peak memory of the process with its inputs")
    rng = np.random.default_rng(seed)
    for entrants, cases, repeats in ((10, 10_000, 1), (10, 2_000, 5), (50, 4_000, 1)):
        shape = (entrants, cases, repeats)
        ability = rng.normal(0, 1.5, cases) + np.linspace(0, 1, entrants)[:, None]
        values = (rng.random(shape) < 1 / (1 + np.exp(-ability))[:, :, None]).astype(float)
        metrics = {f"metric {number}": rng.random(shape) for number in range(4)}
        inputs = run_inputs(values, metrics=metrics, tags=[(f"tag {case % 8}",) for case in range(cases)], baseline=0)
        begun = time.process_time()
        compute_figures(inputs)
        took, has_bar = time.process_time() - begun, entrants == 10
        label = f"{values.size:,} items, {entrants} entrants, {repeats} repeats, 5 metrics, all pairs"
        report.row(label, f"{took:.2f} s", "bar 1 s" if has_bar else "", held=not has_bar or took <= 1)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        report.row("… memory", f"{memory:.0f} MB", "bar 250 MB" if has_bar else "", held=not has_bar or memory <= 250)


@dataclass(frozen=True)
class _MeanCoverageOf:
    design: coverage.MeanDesign

    def __call__(self, repetitions: int, seed: int) -> tuple[coverage.Held, dict[str, float]]:
        return coverage.mean_coverage(self.design, repetitions=repetitions, seed=seed)


@dataclass(frozen=True)
class _JointCoverageOf:
    design: coverage.JointDesign

    def __call__(self, repetitions: int, seed: int) -> coverage.Held:
        return dict(coverage.joint_coverage(self.design, repetitions=repetitions, seed=seed))


@dataclass(frozen=True)
class _QuantileCoverageOf:
    level: float
    cases: int
    repeats: int

    def __call__(self, repetitions: int, seed: int) -> list[bool]:
        return coverage.quantile_coverage(
            self.level, cases=self.cases, repeats=self.repeats, repetitions=repetitions, seed=seed
        )


@dataclass(frozen=True)
class _SeparatedByRepeatsOf:
    rates: tuple[float, float]
    cases: int
    first: int
    own: float
    shared: float

    def __call__(self, repetitions: int, seed: int) -> list[bool]:
        return coverage.separated_after_more_repeats(
            self.rates, self.cases, first=self.first, own=self.own, shared=self.shared, repetitions=repetitions,
            seed=seed,
        )  # fmt: skip


@dataclass(frozen=True)
class _SeparatedOf:
    rates: tuple[float, float]
    cases: int
    is_known: bool

    def __call__(self, repetitions: int, seed: int) -> list[bool]:
        return coverage.separated_after_more_cases(
            self.rates, self.cases, is_known=self.is_known, repetitions=repetitions, seed=seed
        )
