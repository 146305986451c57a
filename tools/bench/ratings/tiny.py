"""Fits of ten thousand random boards of one to five voters."""

import warnings
from itertools import chain

import numpy as np

from tests.worlds.ratings.tiny_boards import finite_intervals, fit_tiny_board, random_ballots
from tools.bench.ratings.calibration import JOBS, Simulator
from tools.bench.ratings.report import Report


def tiny(simulator: Simulator, report: Report) -> None:
    report.heading("Random boards of one to five voters: fits that raise or have an interval of no width (boards)")
    faults = list(chain.from_iterable(simulator.repeat(10_000, _faults_of_tiny_boards)))
    boards = JOBS * max(1, round(10_000 * simulator.fraction / JOBS))
    report.row(f"faulty boards ({boards:,})", f"{len(faults)}", "bar 0", held=not faults)
    for fault in faults[:5]:
        report.row(fault, "")


def _faults_of_tiny_boards(boards: int, seed: int) -> list[str]:
    """Return a line for each board without a sound fit."""
    faults = []
    for number in range(boards):
        ballots = random_ballots(np.random.default_rng([seed, number]))
        try:
            warnings.simplefilter("error")
            widths = [high - low for low, high in finite_intervals(fit_tiny_board(ballots))]
        except Exception as error:  # any error is a finding
            faults.append(f"seed [{seed}, {number}]: {type(error).__name__}: {error}")
        else:
            faults.extend([f"seed [{seed}, {number}]: width {min(widths)}"] if min(widths, default=1) <= 0 else [])
    return faults
