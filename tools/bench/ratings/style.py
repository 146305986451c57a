"""Style control on simulated votes."""

from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

import numpy as np

from leaderboard.rating.bradley_terry import POINTS
from leaderboard.rating.intervals import Z
from leaderboard.rating.style_control import fit_style, scaling_of
from tests.worlds.ratings import simulations
from tests.worlds.ratings.rank_ranges import RankErrors
from tests.worlds.ratings.simulations import StyleTastes
from tools.bench.ratings.calibration import Simulator
from tools.bench.ratings.report import Report

EFFECTS = np.array([0.25, -0.1, 0.05, 0.0])
# (voters, votes, repetitions)
CROWDS = ((150, 6_000, 1200), (2_000, 20_000, 400))
TASTES = (0.15, 0.3)
# sd of the log of a voter's share of the votes: all alike, or the busiest tenth casts two thirds.
SPREADS = (0.0, 1.5)
SIDE = 0.25


def style(simulator: Simulator, report: Report) -> None:
    report.heading("Style control: how often intervals hold the truth (cases)")
    for models, votes in ((12, 2000), (20, 10_000), (40, 30_000)):
        parts = list(simulator.repeat(400, _StyleHeld(models, votes)))
        for what, held in zip(("scores", "coefficients", "the true 0.25"), zip(*parts, strict=True), strict=True):
            together = list(chain.from_iterable(held))
            report.share(f"{models} models, {votes:,} votes: {what}", together, low=0.93, high=0.97)
    report.heading("Style control with voters whose taste for length varies: how often intervals hold the truth")
    for voters, votes, repetitions in CROWDS:
        for taste in TASTES:
            for spread in SPREADS:
                design = StyleTastes(models=12, votes=votes, voters=voters, taste=taste, spread=spread)
                _tastes(simulator, report, design, repetitions)
    report.heading(f"An advantage of the left side of {SIDE * POINTS:.0f} points beside style control")
    errors = list(chain.from_iterable(simulator.repeat(40, _side_errors)))
    without, with_side = (
        float(np.mean([getattr(error, name) for error in errors])) for name in ("without", "with_side")
    )
    report.row("score furthest from the truth without it in the fit, points", f"{without:.1f}")
    report.row("with it, points", f"{with_side:.1f}")


@dataclass(frozen=True)
class _StyleHeld:
    models: int
    votes: int

    def __call__(self, repetitions: int, seed: int) -> tuple[list[bool], list[bool], list[bool]]:
        rng, scores, slopes, first = np.random.default_rng(seed), [], [], []
        for _ in range(repetitions):
            theta, ballots, features = simulations.styled_arena(
                rng, models=self.models, votes=self.votes, effects=EFFECTS
            )
            fit = fit_style(
                ballots.left, ballots.right, ballots.share, features,
                established=np.ones(self.models, dtype=bool), scaling=scaling_of(features),
            )  # fmt: skip
            truth = 1500 + POINTS * theta
            scores.extend((fit.low <= truth) & (truth <= fit.high))
            held = np.abs(fit.coefficients - EFFECTS) <= Z * fit.errors
            slopes.extend(held)
            first.append(held[0])
        return scores, slopes, first


@dataclass
class _Held:
    """Flags of intervals, and of rank ranges, that hold the limit of many voters."""

    length: list[bool] = field(default_factory=list)
    others: list[bool] = field(default_factory=list)
    scores: list[bool] = field(default_factory=list)
    alone: list[bool] = field(default_factory=list)  # with errors of independent votes
    ranks: RankErrors = field(default_factory=RankErrors)

    def extend(self, other: "_Held") -> None:
        for name, values in vars(other).items():
            getattr(self, name).extend(values)


def _tastes(simulator: Simulator, report: Report, design: StyleTastes, repetitions: int) -> None:
    held = _Held()
    for part in simulator.repeat(repetitions, _TastesHeld(design)):
        held.extend(part)
    kind = "alike" if design.spread == 0 else "unequal"
    name = f"{design.voters:,} voters, {kind}, sd {design.taste}"
    report.row(f"{name}: length, independent votes assumed", f"{np.mean(held.alone):.4f}")
    report.share(f"{name}: length", held.length, low=0.93, high=0.97)
    report.share(f"{name}: other coefficients", held.others, low=0.93, high=0.97)
    report.share(f"{name}: scores", held.scores, low=0.93, high=0.97)
    report.share(f"{name}: rank ranges", held.ranks.held, low=0.95)
    report.share(f"{name}: tiers true ({np.mean(held.ranks.tiers):.1f} of them)", held.ranks.tiers_held, low=0.95)


@dataclass(frozen=True)
class _TastesHeld:
    design: StyleTastes

    def __call__(self, repetitions: int, seed: int) -> _Held:
        rng, held = np.random.default_rng(seed), _Held()
        for _ in range(repetitions):
            arena = self.design.sample(rng)
            fit, limit, alone = arena.fit(), arena.limit(), arena.fit(voter=None)
            missed = np.abs(fit.coefficients - limit.coefficients)
            within = missed <= Z * fit.errors
            held.length.append(within[0])
            held.others.extend(within[1:])
            held.scores.extend((fit.low <= limit.score) & (limit.score <= fit.high))
            held.alone.append(missed[0] <= Z * alone.errors[0])
            held.ranks.add(fit.score, fit.covariance, limit.score)
        return held


class _SideErrors(NamedTuple):
    without: float
    with_side: float


def _side_errors(repetitions: int, seed: int) -> list[_SideErrors]:
    # Half of the models stand left three times as often as right.
    rng, errors = np.random.default_rng(seed), []
    design = StyleTastes(models=12, votes=200_000, voters=20_000, taste=0.0, side=SIDE, on_the_left=0.75)
    for _ in range(repetitions):
        arena = design.sample(rng)
        truth = 1500 + POINTS * arena.theta
        errors.append(_SideErrors(*(float(np.abs(arena.fit(side=side).score - truth).max()) for side in (False, True))))
    return errors
