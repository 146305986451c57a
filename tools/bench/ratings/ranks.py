"""Rank ranges and tiers beside their bars; the arenas are in tests/leaderboard/rating/rank_simulation.py."""

from dataclasses import dataclass

from tests.leaderboard.rating.rank_simulation import HARD, USUAL, RankDesign, RankErrors, rank_errors
from tools.bench.ratings.calibration import Simulator
from tools.bench.ratings.report import Report

MAX_WIDTH_RATIO = 0.85


@dataclass(frozen=True)
class _ErrorsOf:
    """Picklable call of `rank_errors` for a design."""

    design: RankDesign

    def __call__(self, repetitions: int, seed: int) -> RankErrors:
        return rank_errors(self.design, repetitions=repetitions, seed=seed)


def rank_ranges(simulator: Simulator, report: Report) -> None:
    report.heading("Rank ranges: boards where all hold (arenas), and mean width beside the plain step-down")
    together: list[RankErrors] = []
    for design in (*USUAL, *HARD):
        found = _joined(list(simulator.repeat(400, _ErrorsOf(design))))
        is_usual = design in USUAL
        report.share(f"{design.name}: held", found.held, low=0.95 if is_usual else 0.0)
        report.share(f"{design.name}: plain step-down held", found.plain_held, low=0.0)
        report.row(
            f"{design.name}: width, ratio", f"{found.width_ratio:.3f}", f"bar {MAX_WIDTH_RATIO}" if is_usual else "",
            held=not is_usual or found.width_ratio <= MAX_WIDTH_RATIO,
        )  # fmt: skip
        together += [found] if is_usual else []
    every = _joined(together)
    report.share("all usual arenas: held", every.held, low=0.95, high=0.99)
    report.row("all usual arenas: width, ratio", f"{every.width_ratio:.3f}", f"bar {MAX_WIDTH_RATIO}",
               held=every.width_ratio <= MAX_WIDTH_RATIO)  # fmt: skip


def _joined(parts: list[RankErrors]) -> RankErrors:
    joined = RankErrors()
    for part in parts:
        for name, values in vars(part).items():
            getattr(joined, name).extend(values)
    return joined
