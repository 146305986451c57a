"""Effects of votes' context on simulated votes without any."""

from dataclasses import dataclass

import numpy as np

from tests.worlds.ratings.context import ContextDesign, fit
from tools.bench.ratings.calibration import Simulator
from tools.bench.ratings.report import Report

NONE = (0.0, 0.0, 0.0, 0.0)
DESIGNS = (
    ContextDesign(NONE, votes=6_000, voters=150),
    ContextDesign(NONE, votes=6_000, voters=150, spread=1.0),
    ContextDesign(NONE, votes=20_000, voters=2_000, spread=1.0),
)
REPETITIONS = 600


def context(simulator: Simulator, report: Report) -> None:
    report.heading(
        "Context of votes, no effects on average, voters' tastes of sd 0.3: how often intervals hold the limit"
    )
    for design in DESIGNS:
        effects = [effect for part in simulator.repeat(REPETITIONS, _Effects(design)) for effect in part]
        name = f"{design.voters:,} voters, {'unequal' if design.spread else 'alike'}"
        for covariate in ("met_before", "files", "first_token"):
            held = [holds for which, holds, _ in effects if which == covariate]
            report.share(f"{name}: {covariate}", held, low=0.93, high=0.975)
        report.share(f"{name}: within 3 standard errors", [not applied for *_, applied in effects], low=0.993)


@dataclass(frozen=True)
class _Effects:
    design: ContextDesign

    def __call__(self, repetitions: int, seed: int) -> list[tuple[str, bool, bool]]:
        """Return (covariate, whether its interval holds the limit of many voters, whether it is in the fit)."""
        effects = []
        for number in np.random.SeedSequence(seed).generate_state(repetitions).tolist():
            theta, ballots = self.design.sample(number)
            limit = self.design.limit(theta, ballots)
            for name, effect in fit(ballots).facts["context"]["coefficients"].items():
                effects.append((name, effect["low"] <= limit[name] <= effect["high"], effect["applied"]))
        return effects
