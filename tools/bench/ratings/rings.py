"""Rings, riggers and honest people: figures of ring_scenarios beside their bars."""

from dataclasses import dataclass, replace

import numpy as np

from leaderboard.rating.bradley_terry import POINTS
from tests.worlds.ratings import ring_scenarios
from tests.worlds.ratings.paid_raters import MAX_HELD, held_shares, paid_raters
from tests.worlds.ratings.ring_scenarios import Crowd, Ring
from tests.worlds.ratings.ring_simulation import HonestHeld, Outcome, crowd_held, honest_held, outcome_of
from tools.bench.ratings.calibration import Simulator
from tools.bench.ratings.report import Report

# Few, because a look takes half a second: rings of days, and rings of weeks, crowds and curves.
ARENAS = 8
SLOW_ARENAS = 4
HONEST_ARENAS = 8
_POINTS = ("points_gained", "points_left")


def rings(simulator: Simulator, report: Report) -> None:
    report.heading("Rings of accounts: nightly looks until found, and points of the target left a night after the last")
    for scenario in [*ring_scenarios.RINGS, *ring_scenarios.LATE_RINGS]:
        _report_ring(report, scenario, _outcomes(simulator, scenario))
    report.heading("Honest people: voters, votes and groups held")
    for name, crowd in ring_scenarios.CROWDS.items():
        _report_crowd(report, name, crowd, simulator, bar=True)
    model_days = alarms = 0
    for honest in ring_scenarios.HONEST:
        held = [outcome for part in simulator.repeat(HONEST_ARENAS, _HonestOutcomes(honest)) for outcome in part]
        for what, bar in (("voters", honest.voters_held), ("votes", honest.votes_held)):
            share = float(np.mean([getattr(outcome, what) for outcome in held]))
            report.row(f"{honest.name}: {what} held", f"{share:.4%}", f"bar {bar:.0%}", held=share <= bar)
        _report_before(report, honest.before)
        alarms += sum(outcome.rings for outcome in held)
        model_days += sum(outcome.model_days for outcome in held)
    allowed = max(1, round(model_days / ring_scenarios.MODEL_DAYS))
    report.row(f"rings found in {model_days:,} model-days", f"{alarms}", f"bar {allowed}", held=alarms <= allowed)
    _paid_raters(report)
    report.heading("Where rings and honest people are alike: 20 old accounts × 20 a day that favour one model")
    _report_curve(simulator, report, "all battles with it", ring_scenarios.SEEKING, ring_scenarios.SEEKING_RING)
    _report_curve(simulator, report, "all battles as drawn", ring_scenarios.DRAWN, ring_scenarios.DRAWN_RING)


def _report_curve(simulator: Simulator, report: Report, battles: str, crowd: Crowd, ring: Ring) -> None:
    for liking in ring_scenarios.LIKINGS:
        name = f"{battles}, liked by {liking * POINTS:.0f} points more"
        _report_crowd(report, name, replace(crowd, liking=liking), simulator)
    for recognition in ring_scenarios.RECOGNITIONS:
        scenario = ring_scenarios.RingScenario("", replace(ring, recognition=recognition))
        outcomes = _outcomes(simulator, scenario)
        found_share = float(np.mean([outcome.looks > 0 for outcome in outcomes]))
        gained, remaining = (float(np.mean([getattr(outcome, name) for outcome in outcomes])) for name in _POINTS)
        report.row(
            f"{battles}, recognised and favoured in {recognition:.0%}",
            f"{found_share:.0%}, {gained:.0f} → {remaining:.1f}",
        )


def _report_crowd(report: Report, name: str, crowd: Crowd, simulator: Simulator, *, bar: bool = False) -> None:
    held = [is_held for part in simulator.repeat(ARENAS if bar else SLOW_ARENAS, _CrowdHeld(crowd)) for is_held in part]
    value, target = f"held in {sum(held)} of {len(held)}", "bar 0" if bar else ""
    report.row(name, value, target, held=not (bar and any(held)))


def _outcomes(simulator: Simulator, scenario: ring_scenarios.RingScenario) -> list[Outcome]:
    arenas = ARENAS if scenario.name and scenario.ring.days < 10 else SLOW_ARENAS
    return [outcome for part in simulator.repeat(arenas, _Outcomes(scenario)) for outcome in part]


def _report_ring(report: Report, scenario: ring_scenarios.RingScenario, outcomes: list[Outcome]) -> None:
    is_found = [0 < outcome.looks <= scenario.looks for outcome in outcomes]
    report.share(f"{scenario.name}: found within {scenario.looks} looks", is_found, low=scenario.found)
    nights = [outcome.looks for outcome in outcomes if outcome.looks]
    if nights:
        report.row("… nights until found, median and most", f"{np.median(nights):.0f}, {max(nights)}")
    gained = float(np.mean([outcome.points_gained for outcome in outcomes]))
    remaining = [abs(outcome.points_left) for outcome in outcomes]
    label = f"… of {gained:.0f} points gained, left on average (furthest {max(remaining):.1f})"
    report.mean(label, remaining, high=scenario.points_left)
    _report_before(report, scenario.before)
    rigged, honest = (
        float(np.mean([getattr(outcome, name) for outcome in outcomes])) for name in ("rigged_held", "honest_held")
    )
    report.row("… share of the ring's votes and of honest votes held", f"{rigged:.1%}, {honest:.2%}")


def _report_before(report: Report, figure: str) -> None:
    if figure:
        report.row("… before such groups and tie rates were tested", figure)


@dataclass(frozen=True)
class _Outcomes:
    """Picklable simulation of a ring."""

    scenario: ring_scenarios.RingScenario

    def __call__(self, repetitions: int, seed: int) -> list[Outcome]:
        rng = np.random.default_rng(seed)
        return [outcome_of(rng, self.scenario.people, self.scenario.ring) for _ in range(repetitions)]


@dataclass(frozen=True)
class _CrowdHeld:
    crowd: Crowd

    def __call__(self, repetitions: int, seed: int) -> list[bool]:
        """Return whether any group is found."""
        rng = np.random.default_rng(seed)
        return [bool(crowd_held(rng, ring_scenarios.People(), self.crowd)) for _ in range(repetitions)]


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
    flagged, held = [share.flagged for share in shares], max(share.held for share in shares)
    report.row(
        f"llmfao's crowd: votes of flagged voters, mean over {len(orders)} orders (most)",
        f"{np.mean(flagged):.2%} ({max(flagged):.2%})",
    )  # fmt: skip
    report.row("… held before a review, most", f"{held:.2%}", f"bar {MAX_HELD:.0%}", held=held <= MAX_HELD)
    _report_before(report, ring_scenarios.LLMFAO_BEFORE)
