"""The same votes given to arena-rank and evalica, where they are installed: times as ratios to ours, and agreement.

They live in an environment of their own, whose Python ARENA_BENCH_PYTHON names:
python -m venv /tmp/rivals && /tmp/rivals/bin/pip install arena-rank evalica
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from leaderboard.rating.board_fit import fit_board
from leaderboard.rating.bradley_terry import maximum_likelihood
from leaderboard.rating.ranks import rank_board
from leaderboard.rating.reference import fit_reference
from leaderboard.rating.style_control import fit_style, scaling_of
from tests.leaderboard.rating import simulations
from tools.bench.ratings.report import Report

MODELS, VOTES = 100, 1_000_000


def rivals(report: Report, seed: int) -> None:
    python = os.environ.get("ARENA_BENCH_PYTHON", "")
    report.head(f"Beside other libraries: {VOTES:,} votes, {MODELS} models, from votes to scores with intervals")
    if not python:
        report.say("ARENA_BENCH_PYTHON names no Python that has them", "left out")
        return
    _, ballots, features = simulations.styled_arena(
        np.random.default_rng(seed), models=MODELS, votes=VOTES, effects=np.array([0.25, -0.1, 0.05, 0.0])
    )
    begun = time.perf_counter()
    rank_board(fit_board(*ballots.counts(MODELS)))
    ours = time.perf_counter() - begun
    wins, ties = ballots.counts(MODELS)
    begun = time.perf_counter()
    fit_reference(wins, ties)
    report.say("ours, from votes: counts, scores, intervals, rank ranges", f"{ours * 1000:.0f} ms")
    report.say("ours, from tallies: scores and intervals", f"{(time.perf_counter() - begun) * 1000:.1f} ms")
    dressed = _style_ms(ballots, features)
    report.say("ours, from votes: style control", f"{dressed * 1000:.0f} ms")
    exact = 1000 + 400 / np.log(10) * maximum_likelihood(wins, ties)
    for name, run in _theirs(python, ballots, features).items():
        base = dressed if "style" in name else ours
        cold, warm = run["cold"] / base, run["warm"] / base
        report.say(f"{name}: times as long, cold and warm", f"{cold:.1f} × {warm:.1f} ×")
        if "style" not in name:
            furthest = np.abs(np.array(run["ratings"]) - exact).max()
            report.say(f"{name}: furthest from the exact maximum, points", f"{furthest:.2g}")


def _style_ms(ballots: simulations.Ballots, features: np.ndarray) -> float:
    begun = time.perf_counter()
    fit_style(
        ballots.left, ballots.right, ballots.share, features,
        established=np.ones(MODELS, dtype=bool), scaling=scaling_of(features),
    )  # fmt: skip
    return time.perf_counter() - begun


def _theirs(python: str, ballots: simulations.Ballots, features: np.ndarray) -> dict[str, dict]:
    with tempfile.TemporaryDirectory() as folder:
        votes = Path(folder) / "votes.npz"
        np.savez(votes, left=ballots.left, right=ballots.right, outcome=ballots.outcome, features=features)
        script = Path(__file__).with_name("their_runs.py")
        done = subprocess.run([python, str(script), str(votes)], stdout=subprocess.PIPE, stderr=sys.stderr, check=True)
    return json.loads(done.stdout)
