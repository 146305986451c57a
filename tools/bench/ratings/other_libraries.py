"""Comparison with arena-rank, evalica and leaderbot on the same votes: CPU times as ratios to ours, and agreement.

ARENA_BENCH_PYTHON is the Python of their environment:
python -m venv /tmp/rivals && /tmp/rivals/bin/pip install arena-rank evalica leaderbot
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np

from common.allocator import keep_freed_arrays
from leaderboard.rating.ballots import ballots_of_names
from leaderboard.rating.board_fit import fit_board, fit_side_counts
from leaderboard.rating.bradley_terry import maximum_likelihood
from leaderboard.rating.counts import OUTCOMES
from leaderboard.rating.ranks import rank_board
from leaderboard.rating.reference import fit_reference
from leaderboard.rating.style_control import fit_style, scaling_of
from tests.leaderboard.rating import simulations
from tools.bench.ratings.report import Report

MODELS, VOTES, ROUNDS = 100, 1_000_000, 3


def compare_libraries(report: Report, seed: int) -> None:
    python = os.environ.get("ARENA_BENCH_PYTHON", "")
    report.heading(f"Beside other libraries, CPU time: {VOTES:,} votes, {MODELS} models, to scores with intervals")
    if not python:
        report.row("ARENA_BENCH_PYTHON names no Python that has them", "left out")
        return
    keep_freed_arrays()  # as each snapshot does
    _, ballots, features = simulations.styled_arena(
        np.random.default_rng(seed), models=MODELS, votes=VOTES, effects=np.array([0.25, -0.1, 0.05, 0.0])
    )
    ours = _seconds(lambda: rank_board(fit_board(*ballots.counts(MODELS))))
    wins, ties = ballots.counts(MODELS)
    report.row("ours, from votes: counts, scores, intervals, rank ranges", f"{ours * 1000:.0f} ms")
    from_tallies = _seconds(lambda: fit_reference(wins, ties))
    report.row("ours, from tallies: scores and intervals", f"{from_tallies * 1000:.1f} ms")
    from_names = _seconds_from_names(ballots)
    report.row("ours, from lists of names: scores and intervals", f"{from_names * 1000:.0f} ms")
    ours_style = _style_seconds(ballots, features)
    report.row("ours, from votes: style control", f"{ours_style * 1000:.0f} ms")
    exact = 1000 + 400 / np.log(10) * maximum_likelihood(wins, ties)
    for name, run in _other_runs(python, ballots, features).items():
        base = ours_style if "style" in name else from_names if "names" in name else ours
        cold, warm = run["cold"] / base, run["warm"] / base
        bar = ("bar 10", min(cold, warm) >= 10) if "names" in name else ("", True)
        report.row(f"{name}: times as long, cold and warm", f"{cold:.1f} × {warm:.1f} ×", bar[0], held=bar[1])
        if run["ratings"]:
            largest_difference = np.abs(np.array(run["ratings"]) - exact).max()
            report.row(f"{name}: furthest from the exact maximum, points", f"{largest_difference:.2g}")


def _seconds_from_names(ballots: simulations.Ballots) -> float:
    names = [f"organization/model-{index}" for index in range(MODELS)]
    left, right = ([names[index] for index in side.tolist()] for side in (ballots.left, ballots.right))
    outcome = [OUTCOMES[index] for index in ballots.outcome.tolist()]
    return _seconds(lambda: fit_side_counts(ballots_of_names(left, right, outcome).counts.n))


def _style_seconds(ballots: simulations.Ballots, features: np.ndarray) -> float:
    established, scaling = np.ones(MODELS, dtype=bool), scaling_of(features)
    return _seconds(
        lambda: fit_style(
            ballots.left, ballots.right, ballots.share, features, established=established, scaling=scaling
        )
    )


def _seconds(task: Callable[[], object]) -> float:
    """Return the median CPU time of some runs: wall-clock time depends on other load of the machine."""
    seconds = []
    for _ in range(ROUNDS):
        begun = time.process_time()
        task()
        seconds.append(time.process_time() - begun)
    return median(seconds)


def _other_runs(python: str, ballots: simulations.Ballots, features: np.ndarray) -> dict[str, dict]:
    with tempfile.TemporaryDirectory() as folder:
        votes = Path(folder) / "votes.npz"
        np.savez(votes, left=ballots.left, right=ballots.right, outcome=ballots.outcome, features=features)
        script = Path(__file__).with_name("other_library_runs.py")
        done = subprocess.run([python, str(script), str(votes)], stdout=subprocess.PIPE, stderr=sys.stderr, check=True)
    return json.loads(done.stdout)
