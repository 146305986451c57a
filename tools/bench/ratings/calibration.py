"""Long simulations on new seeds: intervals, ranks, sampling and anomaly tests."""

from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from typing import Any

import numpy as np

from leaderboard.rating.anomalies.eprocess import ALPHA
from tests.worlds.ratings import simulations
from tests.worlds.ratings.interval_coverage import DESIGNS, Coverage, Design, coverage
from tests.worlds.ratings.newcomers import newcomer_half_width
from tests.worlds.ratings.voter_verdicts import verdicts
from tools.bench.ratings.report import Report

JOBS = 4  # parallel jobs per row


@dataclass(frozen=True)
class Simulator:
    """Process pool with new seeds. fraction: of the full number of repetitions."""

    pool: Executor
    seeds: np.random.SeedSequence
    fraction: float

    def repeat(self, times: int, simulate: Callable[[int, int], Any]) -> Iterable[Any]:
        """Return simulate(repetitions, seed) of each of JOBS jobs."""
        each = max(1, round(times * self.fraction / JOBS))
        seeds = [int(seed.generate_state(1)[0]) for seed in self.seeds.spawn(JOBS)]
        return self.pool.map(simulate, [each] * JOBS, seeds)


def intervals(simulator: Simulator, report: Report) -> None:
    report.heading("How often intervals hold the true score, and rank ranges all true ranks (cases)")
    for design in DESIGNS:
        joined = _joined(simulator.repeat(_repetitions(design), _CoverageOf(design)))
        low, high = (0.93, 1.0) if design.voters else (0.94, 0.995)
        for kind, held in sorted(joined.held.items()):
            if len(held) >= 200:
                report.share(f"{design.name}: {kind}", held, low=low, high=high)
        if joined.ranges:
            report.share(f"{design.name}: rank ranges", joined.ranges, low=0.95)


@dataclass(frozen=True)
class _CoverageOf:
    """Picklable call of `coverage` for a design."""

    design: Design

    def __call__(self, repetitions: int, seed: int) -> Coverage:
        return coverage(self.design, repetitions=repetitions, seed=seed)


def _repetitions(design: Design) -> int:
    # Few where a repetition takes long; otherwise enough for standard errors smaller than the tolerance of the bars.
    return 300 if design.votes > 100_000 else 1200


def _joined(parts: Iterable[Coverage]) -> Coverage:
    joined = Coverage()
    for part in parts:
        joined.ranges.extend(part.ranges)
        for kind, held in part.held.items():
            joined.held[kind].extend(held)
    return joined


def sampling(simulator: Simulator, report: Report) -> None:
    report.heading("Active sampling: ten newcomers among 100 models, 100,000 votes and 10,000 more")
    parts = list(simulator.repeat(8, _newcomers))
    even, active, held = (np.mean([getattr(part, name) for part in parts]) for name in ("even", "active", "held"))
    report.row("newcomers' half width, pairs drawn evenly, points", f"{even:.1f}")
    report.row("newcomers' half width, active sampling, points", f"{active:.1f}")
    report.row("ratio", f"{active / even:.3f}", "bar 0.6", held=active <= 0.6 * even)
    report.row("intervals under active sampling hold the truth", f"{held:.4f}", "bar 0.94", held=bool(held >= 0.94))


@dataclass(frozen=True)
class _Newcomers:
    even: float
    active: float
    held: float


def _newcomers(repetitions: int, seed: int) -> _Newcomers:
    design = {"models": 100, "newcomers": 10, "old_votes": 100_000, "new_votes": 10_000, "rounds": 10}
    rng = np.random.default_rng(seed)
    even = [newcomer_half_width(rng, active=False, **design)[0] for _ in range(repetitions)]
    active = [newcomer_half_width(rng, active=True, **design) for _ in range(repetitions)]
    return _Newcomers(
        float(np.mean(even)), float(np.mean([half for half, _ in active])), float(np.mean([held for _, held in active]))
    )


def anomalies(simulator: Simulator, report: Report) -> None:
    report.heading(f"E-processes, flagged at E ≥ 1/α, α = {ALPHA} (30 models)")
    parts = list(simulator.repeat(12, _crossings))
    together = {name: list(chain.from_iterable(part[name] for part in parts)) for name in parts[0]}
    honest = np.array(together["honest"]) > 0
    report.row(
        f"honest voters flagged ({len(honest):,})", f"{honest.sum()}", f"bar {2 * ALPHA * len(honest):.1f}",
        held=bool(honest.mean() <= 2 * ALPHA),
    )  # fmt: skip
    report.share(
        "honest voters with a taste of sd 0.35 not flagged", [not crossing for crossing in together["taste"]], low=0.9
    )
    served = np.array(together["served"])
    report.share("who serves one model only is found within 60 votes", list(served > 0), low=0.95)
    report.row("… after this many votes, median", f"{np.median(served[served > 0]):.0f}")
    quarter = np.array(together["quarter"])
    report.row(
        f"who serves one model in a quarter of 200 battles is found ({len(quarter):,})", f"{np.mean(quarter > 0):.4f}"
    )
    report.share(
        "who presses any button is found within 200 votes", [crossing > 0 for crossing in together["any"]], low=0.95
    )


def _crossings(repetitions: int, seed: int) -> dict[str, list[int]]:
    """Return the vote at which each voter crossed, 0 for never, by kind of voter.

    A repetition has 2,000 honest voters.
    """
    rng, models = np.random.default_rng(seed), 30
    crossings: dict[str, list[int]] = {"honest": [], "taste": [], "served": [], "quarter": [], "any": []}
    for _ in range(repetitions):
        theta, honest = simulations.crowd(rng, models=models, voters=2000, each=100)
        crossings["honest"].extend(verdicts(honest, models=models).crossed)
        _, with_taste = simulations.crowd(rng, models=models, voters=500, each=100, taste=0.35)
        crossings["taste"].extend(verdicts(with_taste, models=models).crossed)
        # Two voters per model are too few to move the scores.
        served = [simulations.partisans(rng, target=model, models=models, voters=2, each=60) for model in range(models)]
        quarter = [_partly_serving(rng, theta, target=model, voters=2, each=200) for model in range(models)]
        left, right = simulations.random_pairs(rng, models, 20 * 200)
        pressed = rng.choice(3, p=[0.25, 0.25, 0.5], size=len(left))
        random = simulations.Ballots(left, right, pressed, np.repeat(np.arange(20), 200))
        for kind, anomalous in (("served", served), ("quarter", quarter), ("any", [random])):
            ballots = reduce(simulations.Ballots.joined_by_new_voters, anomalous, honest)
            crossings[kind].extend(verdicts(ballots, models=models).crossed[2000:])
    return crossings


def _partly_serving(
    rng: np.random.Generator, theta: Any, *, target: int, voters: int, each: int
) -> simulations.Ballots:
    """Return votes that prefer `target` in a quarter of the battles and are honest in the others."""
    left, right = simulations.random_pairs(rng, len(theta), voters * each)
    honest = simulations.cast(rng, left, right, theta[left] - theta[right], voter=np.repeat(np.arange(voters), each))
    served = simulations.partisans(rng, target=target, models=len(theta), voters=voters, each=each)
    is_served = rng.random(voters * each) < 0.25
    return simulations.Ballots(
        *(
            np.where(is_served, getattr(served, name), getattr(honest, name))
            for name in ("left", "right", "outcome", "voter")
        )
    )
