"""Judges and people: agreement, calibrated boards and the stop rule of campaigns, on simulated opinions."""

import time
from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from benchmarks.statistics.agreement import Opinions, Scale, agreement, alpha_difference, pairs_between, pairs_within
from benchmarks.statistics.calibration import calibrated_board
from reviews.statistics.stop_rule import Decision
from tests.worlds.benchmarks import agreement as agreeing
from tests.worlds.benchmarks import judged_boards
from tests.worlds.reviews import stop_rule as campaigns
from tools.bench.ratings.calibration import Simulator
from tools.bench.ratings.report import Report

COVERAGE = (0.93, 0.97)
# Nearly all opinions are the same: κ and α are nearly undefined.
LOPSIDED_COVERAGE = 0.88
MAX_WIDTH_RATIO = 1.02
MAX_WRONG = 0.05
MIN_DECIDED = 0.9
# A fixed design needs 259 opinions to tell 60 : 40 from equality with a power of 90 %.
MAX_MEDIAN_OPINIONS = 1.1 * 259
MAX_SECONDS = 0.3
# All with δ = 0.1, and once more with a δ within which too few opinions call models equal.
EQUAL = [*campaigns.EQUAL, *(replace(design, difference=0.03) for design in campaigns.EQUAL)]


def agreement_coverage(simulator: Simulator, report: Report) -> None:
    report.heading("Judges and people: intervals of agreement hold (estimates)")
    for design in agreeing.DESIGNS:
        held: dict[str, list[bool]] = defaultdict(list)
        for part in simulator.repeat(2000, _AgreementOf(design)):
            for name, values in part.items():
                held[name].extend(values)
        low = LOPSIDED_COVERAGE if design.lopsided else COVERAGE[0]
        for name, values in held.items():
            report.share(f"{design.name}: {name}", values, low=low)


def calibrated_boards(simulator: Simulator, report: Report) -> None:
    report.heading("Calibrated boards: intervals hold (entrants), beside people's and the judge's alone")
    for design in (*judged_boards.DESIGNS, judged_boards.BY_CHANCE):
        found = judged_boards.BoardCoverage()
        for part in simulator.repeat(400, _BoardOf(design)):
            found.extend(part)
        low, high = COVERAGE
        report.share(f"{design.name}: calibrated", found.held["calibrated"], low=low, high=high)
        report.share("… people alone", found.held["people"], low=low, high=high)
        report.row("… judge alone", f"{np.mean(found.held['judge']):.4f}")
        ratio = found.width_ratio
        report.row("… width, calibrated over people", f"{ratio:.3f}", f"bar {MAX_WIDTH_RATIO}",
                   held=ratio <= MAX_WIDTH_RATIO)  # fmt: skip
        report.row("… half width of people's, points", f"{np.mean(found.widths['people']) / 2:.1f}")
        report.row("… worth as many more opinions", f"{np.mean(found.worth):.0f}")
        report.share("… the best one's share of wins, calibrated", found.means["calibrated"], low=low)


def stop_rule(simulator: Simulator, report: Report) -> None:
    report.heading("Stop rule: two equal models, looked at after each of 2,000 opinions (campaigns)")
    for design in EQUAL:
        outcomes = list(chain.from_iterable(simulator.repeat(2000, _CampaignsOf(design))))
        wrong = [outcome.decision in (Decision.BETTER, Decision.WORSE) for outcome in outcomes]
        report.share(f"{design.name}: better or worse", wrong, low=0, high=MAX_WRONG)
        report.row("… equal within δ", f"{np.mean([one.decision is Decision.EQUAL for one in outcomes]):.3f}")
    report.heading("Stop rule: 60 : 40 (campaigns)")
    for design in (campaigns.CLEAR, replace(campaigns.CLEAR, difference=0.05), campaigns.CLEAR_IN_CLUSTERS):
        outcomes = list(chain.from_iterable(simulator.repeat(2000, _CampaignsOf(design))))
        has_bar = design.each == 1
        better = [outcome.decision is Decision.BETTER for outcome in outcomes]
        report.share(f"{design.name}: decided", better, low=MIN_DECIDED if has_bar else 0)
        median = float(np.median([outcome.opinions for outcome in outcomes]))
        report.row("… opinions, median", f"{median:.0f}", f"bar {MAX_MEDIAN_OPINIONS:.0f}" if has_bar else "",
                   held=not has_bar or median <= MAX_MEDIAN_OPINIONS)  # fmt: skip


def judged_board_cost(report: Report, seed: int) -> None:
    report.heading("Agreement and calibrated board: CPU time, median of nine")
    design = judged_boards.BoardDesign(judged_boards.JudgeKind.GOOD, 400, 40, entrants=10, cases=89)
    judged, labels = judged_boards.judged_board(np.random.default_rng(seed), design)
    verdicts = Opinions(
        np.arange(len(judged.case)), np.zeros_like(judged.case), _categories(judged.outcome), judged.case
    )
    opinions = Opinions(labels.item, labels.person, _categories(labels.outcome), judged.case[labels.item])
    seconds = []
    for _ in range(9):
        begun = time.process_time()
        with_judge, with_people = pairs_between(verdicts, opinions), pairs_within(opinions)
        agreement(with_judge)
        agreement(with_people)
        alpha_difference(with_judge, with_people, Scale.ORDINAL)
        calibrated_board(judged, labels, design.entrants)
        seconds.append(time.process_time() - begun)
    took = float(np.median(seconds))
    report.row(f"{len(judged.case):,} judged pairs, {design.opinions} opinions, {design.entrants} entrants",
               f"{1000 * took:.0f} ms", f"bar {1000 * MAX_SECONDS:.0f} ms", held=took <= MAX_SECONDS)  # fmt: skip


def _categories(outcome: np.ndarray) -> np.ndarray:
    """Return LEFT for the first's win, TIE, RIGHT."""
    return 1 - np.sign(outcome - 0.5).astype(np.int64)


@dataclass(frozen=True)
class _AgreementOf:
    design: agreeing.AgreementDesign

    def __call__(self, repetitions: int, seed: int) -> agreeing.Held:
        return dict(agreeing.agreement_coverage(self.design, repetitions=repetitions, seed=seed))


@dataclass(frozen=True)
class _BoardOf:
    design: judged_boards.BoardDesign

    def __call__(self, repetitions: int, seed: int) -> judged_boards.BoardCoverage:
        return judged_boards.board_coverage(self.design, repetitions=repetitions, seed=seed)


@dataclass(frozen=True)
class _CampaignsOf:
    design: campaigns.CampaignDesign

    def __call__(self, repetitions: int, seed: int) -> list[campaigns.Outcome]:
        return campaigns.campaigns(self.design, repetitions=repetitions, seed=seed)
