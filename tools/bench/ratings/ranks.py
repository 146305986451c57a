import time
from dataclasses import dataclass

import numpy as np

from leaderboard.rating.board_fit import fit_board
from leaderboard.rating.bradley_terry import Tally
from leaderboard.rating.diagnostics import votes_to_flip_first
from leaderboard.rating.first_place.dropped_votes import votes_to_drop_first
from tests.worlds.ratings import simulations
from tests.worlds.ratings.rank_ranges import EQUAL, HARD, USUAL, RankDesign, RankErrors, rank_errors
from tools.bench.ratings.calibration import Simulator
from tools.bench.ratings.report import Report

MAX_WIDTH_RATIO = 0.85
MAX_FIRST_PLACE_S = 0.3


@dataclass(frozen=True)
class _ErrorsOf:
    design: RankDesign

    def __call__(self, repetitions: int, seed: int) -> RankErrors:
        return rank_errors(self.design, repetitions=repetitions, seed=seed)


def rank_ranges(simulator: Simulator, report: Report) -> None:
    report.heading("Rank ranges: boards where all hold (arenas), and mean width beside the plain step-down")
    together: list[RankErrors] = []
    for design in (*USUAL, *HARD):
        errors = _joined(list(simulator.repeat(400, _ErrorsOf(design))))
        is_usual = design in USUAL
        report.share(f"{design.name}: held", errors.held, low=0.95 if is_usual else 0.0)
        report.share(f"{design.name}: tiers true ({np.mean(errors.tiers):.1f} of them)", errors.tiers_held, low=0.95)
        report.share(f"{design.name}: plain step-down held", errors.plain_held, low=0.0)
        report.row(
            f"{design.name}: width, ratio", f"{errors.width_ratio:.3f}", f"bar {MAX_WIDTH_RATIO}" if is_usual else "",
            held=not is_usual or errors.width_ratio <= MAX_WIDTH_RATIO,
        )  # fmt: skip
        together += [errors] if is_usual else []
    for design in EQUAL:
        errors = _joined(list(simulator.repeat(400, _ErrorsOf(design))))
        report.share(f"{design.name}: tiers true ({np.mean(errors.tiers):.1f} of them)", errors.tiers_held, low=0.95)
    every = _joined(together)
    report.share("all usual arenas: held", every.held, low=0.95, high=0.99)
    report.row("all usual arenas: width, ratio", f"{every.width_ratio:.3f}", f"bar {MAX_WIDTH_RATIO}",
               held=every.width_ratio <= MAX_WIDTH_RATIO)  # fmt: skip


def first_place(report: Report, seed: int) -> None:
    report.heading("Votes to add and to drop until another model is first; CPU time of both, the median of five arenas")
    for models, votes in ((129, 20_000), (129, 1_000_000), (300, 1_000_000)):
        seconds, numbers = [], []
        for arena in range(5):
            rng = np.random.default_rng([seed, arena])
            wins, ties = simulations.arena(rng, simulations.strengths(rng, models), votes).counts(models)
            tally, board = Tally.from_wins(wins, ties), fit_board(wins, ties)
            begun = time.process_time()
            added, dropped = votes_to_flip_first(tally, board), votes_to_drop_first(tally, board)
            seconds.append(time.process_time() - begun)
            numbers.append(f"{added.votes if added else '–'}/{dropped.votes if dropped else '–'}")
        took, has_bar = float(np.median(seconds)), models == 129
        report.row(f"{models} models, {votes:,} votes", f"{took * 1000:.0f} ms", "bar 300 ms" if has_bar else "",
                   held=not has_bar or took <= MAX_FIRST_PLACE_S)  # fmt: skip
        report.row("… added / dropped", " ".join(numbers))


def _joined(parts: list[RankErrors]) -> RankErrors:
    joined = RankErrors()
    for part in parts:
        joined.extend(part)
    return joined
