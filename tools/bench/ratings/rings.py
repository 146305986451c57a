"""Rings, riggers and honest people: figures of ring_scenarios beside their bars."""

import csv
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from leaderboard.rating.anomalies.earlier_fits import TIE, Votes, sequential_forecast
from leaderboard.rating.anomalies.eprocess import VoterLog, judge
from leaderboard.rating.anomalies.expected_votes import expect
from leaderboard.rating.anomalies.look import look
from tests.leaderboard.rating.anomalies import ring_scenarios
from tests.leaderboard.rating.anomalies.ring_simulation import START_DAY, Outcome, arena, dated_votes, outcome_of
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
        held = [one for part in simulator.repeat(ARENAS, _HonestHeld(honest)) for one in part]
        for what, bar in (("voters", honest.voters_held), ("votes", honest.votes_held)):
            share = float(np.mean([getattr(one, what) for one in held]))
            report.row(f"{honest.name}: {what} held", f"{share:.4%}", f"bar {bar:.0%}", held=share <= bar)
        alarms += sum(one.rings for one in held)
        model_days += sum(one.model_days for one in held)
    allowed = max(1, round(model_days / ring_scenarios.MODEL_DAYS))
    report.row(f"rings found in {model_days:,} model-days", f"{alarms}", f"bar {allowed}", held=alarms <= allowed)
    _crowd(report)


def _report_ring(report: Report, scenario: ring_scenarios.RingScenario, outcomes: list[Outcome]) -> None:
    found = [0 < one.looks <= scenario.looks for one in outcomes]
    report.share(f"{scenario.name}: found within {scenario.looks} looks", found, low=scenario.found)
    gained = float(np.mean([one.points_gained for one in outcomes]))
    left = float(np.mean([abs(one.points_left) for one in outcomes]))
    report.row(
        f"… points gained and left, mean (furthest {max(abs(one.points_left) for one in outcomes):.1f})",
        f"{gained:.0f} → {left:.1f}", f"bar {scenario.points_left:.0f}", held=left <= scenario.points_left,
    )  # fmt: skip
    rigged, honest = (
        float(np.mean([getattr(one, name) for one in outcomes])) for name in ("rigged_held", "honest_held")
    )
    report.row("… share of the ring's votes and of honest votes held", f"{rigged:.1%}, {honest:.2%}")


@dataclass(frozen=True)
class _Outcomes:
    """Picklable simulation of a ring."""

    scenario: ring_scenarios.RingScenario

    def __call__(self, repetitions: int, seed: int) -> list[Outcome]:
        rng = np.random.default_rng(seed)
        return [outcome_of(rng, self.scenario.people, self.scenario.ring) for _ in range(repetitions)]


@dataclass(frozen=True)
class Held:
    """Shares of voters and votes held in an arena; rings: found in model_days."""

    voters: float
    votes: float
    rings: int
    model_days: int


@dataclass(frozen=True)
class _HonestHeld:
    scenario: ring_scenarios.HonestScenario

    def __call__(self, repetitions: int, seed: int) -> list[Held]:
        rng = np.random.default_rng(seed)
        return [honest_held(rng, self.scenario.people) for _ in range(repetitions)]


def honest_held(rng: np.random.Generator, people: ring_scenarios.People) -> Held:
    one = arena(rng, people)
    found = look(dated_votes(one.votes, one.day), models=one.models)
    held = np.isin(one.votes.voter, found.flagged_voters)
    # Looks at the end of earlier months complete the days whose groups are judged.
    rings, last = len(found.rings), one.day.max()
    for day in range(last - 35, START_DAY, -35):
        earlier = one.day <= day
        rings += len(look(dated_votes(one.votes.subset(earlier), one.day[earlier]), models=one.models).rings)
    voters = len(np.unique(one.votes.voter))
    return Held(len(found.flagged_voters) / voters, float(held.mean()), rings, people.models * people.days)


def _crowd(report: Report) -> None:
    """Report the share of the llmfao crowd's votes held, in the order of the file and in random orders."""
    folder = Path(os.environ.get("ARENA_REFERENCE_DATA", "../shared/data"))
    file = folder / "votes" / "llmfao_crowd.csv"
    if not file.exists():
        report.row("llmfao's crowd", "left out: no data")
        return
    votes, models = _read_crowd(file)
    rng, shares, capped = np.random.default_rng(0), [], []
    for order in _orders(rng, len(votes)):
        flagged = _flagged_sizes(votes.subset(order), models)
        shares.append(sum(flagged) / len(votes))
        capped.append(_held_under_cap(flagged, len(votes), ring_scenarios.LLMFAO_HELD))
    report.row(
        f"llmfao's crowd: votes of flagged voters, mean over {len(shares)} orders (most)",
        f"{np.mean(shares):.2%} ({max(shares):.2%})",
    )  # fmt: skip
    bar = ring_scenarios.LLMFAO_HELD
    report.row("… held before a review, most", f"{max(capped):.2%}", f"bar {bar:.0%}", held=max(capped) <= bar)


def _orders(rng: np.random.Generator, votes: int) -> Iterable[np.ndarray]:
    yield np.arange(votes)
    for _ in range(ring_scenarios.LLMFAO_ORDERS):
        yield rng.permutation(votes)


def _flagged_sizes(votes: Votes, models: int) -> list[int]:
    """Return the numbers of votes of flagged voters, strongest evidence first."""
    expectation, _ = expect(votes, sequential_forecast(votes, models=models), models=models)
    order = np.argsort(votes.voter, kind="stable")
    log = VoterLog(
        votes.voter[order], votes.left[order], votes.right[order], votes.outcome[order],
        expectation.probabilities()[order],
    )  # fmt: skip
    verdicts, number = judge(log, models=models), np.bincount(votes.voter)
    crossed = np.flatnonzero(verdicts.crossed)
    return [int(number[voter]) for voter in crossed[np.argsort(-verdicts.log_e[crossed])]]


def _held_under_cap(flagged: list[int], votes: int, cap: float) -> float:
    """Return the share held as leaderboard.counting.reviews does: the first voter, others up to the cap."""
    held = 0
    for number in flagged:
        held += number if not held or held + number <= cap * votes else 0
    return held / votes


def _read_crowd(file: Path) -> tuple[Votes, int]:
    with file.open() as lines:
        rows = list(csv.DictReader(lines))
    columns = {name: np.array([row[name] for row in rows]) for name in ("model_a", "model_b", "winner", "judge")}
    models = np.unique(np.append(columns["model_a"], columns["model_b"]))
    outcome = np.select([columns["winner"] == "model_a", columns["winner"] == "model_b"], [0, 1], TIE)
    voter = np.unique(columns["judge"], return_inverse=True)[1]
    left, right = (np.searchsorted(models, columns[side]) for side in ("model_a", "model_b"))
    return Votes(voter, left, right, outcome), len(models)
