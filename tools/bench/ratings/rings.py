"""Rings, riggers and honest people: figures of ring_scenarios beside their bars."""

from dataclasses import dataclass

import numpy as np

from tests.leaderboard.rating.anomalies import ring_scenarios
from tests.leaderboard.rating.anomalies.paid_raters import MAX_HELD, held_shares, paid_raters
from tests.leaderboard.rating.anomalies.ring_simulation import HonestHeld, Outcome, honest_held, outcome_of
from tools.bench.ratings.calibration import Simulator
from tools.bench.ratings.report import Report

ARENAS = 20


def rings(simulator: Simulator, report: Report) -> None:
    report.heading("Rings of accounts: nightly looks until found, and points of the target left after the last look")
    for scenario in ring_scenarios.RINGS:
        parts = simulator.repeat(ARENAS, _Outcomes(scenario))
        _report_ring(report, scenario, [outcome for part in parts for outcome in part])
    report.heading("Honest people: voters, votes and groups held")
    model_days = alarms = 0
    for honest in ring_scenarios.HONEST:
        held = [one for part in simulator.repeat(ARENAS, _HonestOutcomes(honest)) for one in part]
        for what, bar in (("voters", honest.voters_held), ("votes", honest.votes_held)):
            share = float(np.mean([getattr(one, what) for one in held]))
            report.row(f"{honest.name}: {what} held", f"{share:.4%}", f"bar {bar:.0%}", held=share <= bar)
        _report_before(report, honest.before)
        alarms += sum(one.rings for one in held)
        model_days += sum(one.model_days for one in held)
    allowed = max(1, round(model_days / ring_scenarios.MODEL_DAYS))
    report.row(f"rings found in {model_days:,} model-days", f"{alarms}", f"bar {allowed}", held=alarms <= allowed)
    _paid_raters(report)


def _report_ring(report: Report, scenario: ring_scenarios.RingScenario, outcomes: list[Outcome]) -> None:
    found = [0 < one.looks <= scenario.looks for one in outcomes]
    report.share(f"{scenario.name}: found within {scenario.looks} looks", found, low=scenario.found)
    gained = float(np.mean([one.points_gained for one in outcomes]))
    left = float(np.mean([abs(one.points_left) for one in outcomes]))
    report.row(
        f"… points gained and left, mean (furthest {max(abs(one.points_left) for one in outcomes):.1f})",
        f"{gained:.0f} → {left:.1f}", f"bar {scenario.points_left:.0f}", held=left <= scenario.points_left,
    )  # fmt: skip
    _report_before(report, scenario.before)
    rigged, honest = (
        float(np.mean([getattr(one, name) for one in outcomes])) for name in ("rigged_held", "honest_held")
    )
    report.row("… share of the ring's votes and of honest votes held", f"{rigged:.1%}, {honest:.2%}")


def _report_before(report: Report, figure: str) -> None:
    if figure:
        report.row("… before groups and tie rates were tested", figure)


@dataclass(frozen=True)
class _Outcomes:
    """Picklable simulation of a ring."""

    scenario: ring_scenarios.RingScenario

    def __call__(self, repetitions: int, seed: int) -> list[Outcome]:
        rng = np.random.default_rng(seed)
        return [outcome_of(rng, self.scenario.people, self.scenario.ring) for _ in range(repetitions)]


@dataclass(frozen=True)
class _HonestOutcomes:
    scenario: ring_scenarios.HonestScenario

    def __call__(self, repetitions: int, seed: int) -> list[HonestHeld]:
        rng = np.random.default_rng(seed)
        return [honest_held(rng, self.scenario.people) for _ in range(repetitions)]


def _paid_raters(report: Report) -> None:
    """Report the llmfao crowd's shares, in the file's order and random ones."""
    ballots, models = paid_raters()
    rng, every = np.random.default_rng(0), len(ballots.voter)
    orders = [np.arange(every), *(rng.permutation(every) for _ in range(ring_scenarios.LLMFAO_ORDERS))]
    shares = [held_shares(ballots.subset(order), models) for order in orders]
    flagged, held = [one.flagged for one in shares], max(one.held for one in shares)
    report.row(
        f"llmfao's crowd: votes of flagged voters, mean over {len(orders)} orders (most)",
        f"{np.mean(flagged):.2%} ({max(flagged):.2%})",
    )  # fmt: skip
    report.row("… held before a review, most", f"{held:.2%}", f"bar {MAX_HELD:.0%}", held=held <= MAX_HELD)
    _report_before(report, ring_scenarios.LLMFAO_BEFORE)
