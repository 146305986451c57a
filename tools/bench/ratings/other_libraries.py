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
from leaderboard.imports.columns import TableColumns
from leaderboard.rating.ballots import ballots_of, ballots_of_names
from leaderboard.rating.board_fit import fit_board, fit_side_counts
from leaderboard.rating.bradley_terry import maximum_likelihood
from leaderboard.rating.outcomes import OUTCOMES
from leaderboard.rating.ranks import rank_board
from leaderboard.rating.reference import fit_reference
from leaderboard.rating.style_control import fit_style, scaling_of
from tests.worlds.ratings import simulations
from tools.bench.ratings.report import Report

MODELS, VOTES, ROUNDS = 100, 1_000_000, 5
WINNERS = ("model_a", "model_b", "tie", "tie (bothbad)")


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
    from_names, from_copies, from_file = _seconds_from_names(ballots)
    report.row("ours, from names: scores and intervals", f"{from_names * 1000:.0f} ms")
    report.row("ours, from names, an object per vote: scores and intervals", f"{from_copies * 1000:.0f} ms")
    report.row("ours, from a CSV file: scores and intervals", f"{from_file * 1000:.0f} ms")
    ours_style = _style_seconds(ballots, features)
    report.row("ours, from votes: style control", f"{ours_style * 1000:.0f} ms")
    exact = 1000 + 400 / np.log(10) * maximum_likelihood(wins, ties)
    same_start = {
        "arena-rank, style": ours_style,
        "evalica, from names, point fit": from_names,
        "evalica, from names, an object per vote": from_copies,
        "evalica, from a CSV file": from_file,
    }
    for name, run in _other_runs(python, ballots, features).items():
        base = same_start.get(name, ours)
        cold, warm = run["cold"] / base, run["warm"] / base
        bar = ("bar 10", min(cold, warm) >= 10) if name == "evalica, from names, point fit" else ("", True)
        report.row(f"{name}: times as long, cold and warm", f"{cold:.1f} × {warm:.1f} ×", bar[0], held=bar[1])
        if run["ratings"]:
            largest_difference = np.abs(np.array(run["ratings"]) - exact).max()
            report.row(f"{name}: furthest from the exact maximum, points", f"{largest_difference:.2g}")


def _seconds_from_names(ballots: simulations.Ballots) -> tuple[float, float, float]:
    """Return the CPU times from lists of names, of copies, and from a CSV file."""
    names = [f"organization/model-{index}" for index in range(MODELS)]
    left, right = ([names[index] for index in side.tolist()] for side in (ballots.left, ballots.right))
    outcome = [OUTCOMES[index] for index in ballots.outcome.tolist()]

    def fit(left: list[str], right: list[str]) -> object:
        return fit_side_counts(ballots_of_names(left, right, outcome).counts.n)

    def fit_file(path: Path) -> object:
        table = TableColumns(path)
        cells = [(batch.left, batch.right, batch.outcome, batch.n) for batch in table.batches()]
        left, right, outcome, n = (np.concatenate(column) for column in zip(*cells, strict=True))
        return fit_side_counts(ballots_of(table.names.words, left, right, outcome, n=n).counts.n)

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "votes.csv"
        words = [WINNERS[index] for index in ballots.outcome.tolist()]
        lines = map(",".join, zip(left, right, words, strict=True))
        path.write_text("\n".join(["model_a,model_b,winner", *lines]))
        from_file = _seconds(lambda: fit_file(path))
    copies = [[f"{name} "[:-1] for name in side] for side in (left, right)]
    return _seconds(lambda: fit(left, right)), _seconds(lambda: fit(*copies)), from_file


def _style_seconds(ballots: simulations.Ballots, features: np.ndarray) -> float:
    established, scaling = np.ones(MODELS, dtype=bool), scaling_of(features)
    return _seconds(
        lambda: fit_style(
            ballots.left, ballots.right, ballots.share, features, established=established, scaling=scaling
        )
    )


def _seconds(task: Callable[[], object]) -> float:
    """Return the median CPU time of the quicker half of some runs."""
    seconds = []
    for _ in range(ROUNDS):
        begun = time.process_time()
        task()
        seconds.append(time.process_time() - begun)
    return median(sorted(seconds)[: (ROUNDS + 1) // 2])


def _other_runs(python: str, ballots: simulations.Ballots, features: np.ndarray) -> dict[str, dict]:
    with tempfile.TemporaryDirectory() as folder:
        votes = Path(folder) / "votes.npz"
        np.savez(votes, left=ballots.left, right=ballots.right, outcome=ballots.outcome, features=features)
        script = Path(__file__).with_name("other_library_runs.py")
        done = subprocess.run([python, str(script), str(votes)], stdout=subprocess.PIPE, stderr=sys.stderr, check=True)
    return json.loads(done.stdout)
