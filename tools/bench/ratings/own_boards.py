"""Coverage of people's own boards, and the time that one takes."""

import time
from dataclasses import dataclass
from itertools import chain

import numpy as np

from leaderboard.rating.board_fit import DesignEffects
from leaderboard.rating.bradley_terry import POINTS
from leaderboard.rating.counts import count_votes
from leaderboard.rating.personal.own_scores import fit_own_scores
from leaderboard.rating.personal.taste_spread import USUAL_SD
from tests.worlds.ratings.own_boards import DESIGNS, OWN_VOTES, OwnBoardCoverage, OwnBoardDesign, own_board_coverage
from tests.worlds.ratings.simulations import arena, strengths
from tools.bench.ratings.calibration import Simulator
from tools.bench.ratings.report import Report

REPETITIONS = 80


def own_boards(simulator: Simulator, report: Report) -> None:
    report.heading("Own boards: intervals of people drawn from the prior, by number of own votes (models)")
    for design in DESIGNS:
        parts = list(simulator.repeat(REPETITIONS, _CoverageOf(design)))
        for n in OWN_VOTES:
            for kind in ("scores", "tastes"):
                report.share(f"{design.name}, {n} votes: {kind}", _joined(parts, kind, n), low=0.93, high=0.97)
            far, plain, marked, wrong = (_joined(parts, kind, n) for kind in ("far", "plain", "marked", "wrong"))
            report.row("… scores of people two sd away from everyone", f"{np.mean(far):.4f}")
            report.row("… marked as different: of all models / where there is no taste", _shares(marked, plain))
            report.row("… of these marks, with the wrong sign", f"{np.mean(wrong):.4f}" if wrong else "no mark")
        spreads = list(chain.from_iterable(part.spreads for part in parts))
        report.row(f"… spread of tastes {design.sd:g}: mean and sd of its estimate", _mean_and_sd(spreads))


def _shares(*kinds: list[bool]) -> str:
    return " / ".join(f"{np.mean(kind):.4f}" for kind in kinds)


def _mean_and_sd(values: list[float]) -> str:
    return f"{np.mean(values):.3f}, {np.std(values):.3f}" if values else "told"


def _joined(parts: list[OwnBoardCoverage], kind: str, n: int) -> list[bool]:
    return list(chain.from_iterable(getattr(part, kind)[n] for part in parts))


@dataclass(frozen=True)
class _CoverageOf:
    design: OwnBoardDesign

    def __call__(self, repetitions: int, seed: int) -> OwnBoardCoverage:
        return own_board_coverage(self.design, repetitions=repetitions, seed=seed)


def own_board_cost(report: Report, seed: int) -> None:
    report.heading("Own board of 1,000 votes beside a million: CPU time of the fit, median of 9")
    rng = np.random.default_rng(seed)
    for models in (100, 300):
        names = [f"m{number:03}" for number in range(models)]
        theta = strengths(rng, models)
        site, own = (arena(rng, theta, votes) for votes in (1_000_000, 1_000))
        counts, of_person = (
            count_votes(names, each.left, each.right, each.outcome, np.ones(len(each.left), dtype=np.int64))
            for each in (site, own)
        )
        effects, took = DesignEffects(np.ones(models)), []
        for _ in range(9):
            begun = time.process_time()
            fit_own_scores(counts.plus(of_person), of_person, counted=of_person, sd=USUAL_SD, design_effects=effects)
            took.append(time.process_time() - begun)
        report.row(f"{models} models", f"{1000 * np.median(took):.0f} ms", "bar 100 ms", held=np.median(took) <= 0.1)
    report.row("usual spread of tastes, points", f"{USUAL_SD * POINTS:.0f}")
