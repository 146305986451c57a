"""Evaluation on a file of prompts that a weak and a strong model answered rightly or wrongly."""

import csv
from pathlib import Path
from typing import TypedDict

import numpy as np

from routing.learning.evaluation import gap_curve
from routing.learning.grounded import BOTH_BAD, LEFT, RIGHT, TIE, Floats, win_chance
from routing.learning.heads import HeadReport, train
from routing.learning.votes import TrainingVotes, empty_matrix, feature_matrix

COLUMNS = ("prompt", "weak_ok", "strong_ok")
MIN_ROWS = 100
_POINTS = 51
_SEED = 0


class UnusableFile(ValueError):
    pass


class GapResult(TypedDict):
    """area: APGR; curve: (share of strong calls, PGR)."""

    trained_votes: int
    later_votes: int
    heads: list[HeadReport]
    weak: float
    strong: float
    area: float
    cpt50: float
    cpt80: float
    curve: list[tuple[float, float]]


def evaluate_file(path: Path) -> GapResult:
    """Train on a random half of the rows and send the other half. Raises UnusableFile."""
    prompts, weak, strong = _read(path)
    outcome = np.where(strong > weak, LEFT, np.where(weak > strong, RIGHT, np.where(strong > 0, TIE, BOTH_BAD)))
    order = np.random.default_rng(_SEED).permutation(len(prompts))
    old, later = order[: len(order) // 2], order[len(order) // 2 :]
    features, left, each = feature_matrix([[prompt] for prompt in prompts]), np.zeros_like(old), np.arange(len(old))
    trained = train(
        TrainingVotes((0, 1), left, left + 1, outcome[old], each, each, (), empty_matrix(len(old), 0), features[old])
    )  # fmt: skip
    theta = np.array([trained.router.scores((0, 1), (), (prompts[row],)).theta for row in later.tolist()])
    if weak[later].mean() == strong[later].mean():
        raise UnusableFile("Both models are right equally often: there is no gap.")
    gain = win_chance(theta[:, 0], theta[:, 1], trained.router.tie_factor)
    curve = gap_curve(strong[later], weak[later], gain)
    shares = np.linspace(0, 1, _POINTS)
    return GapResult(
        trained_votes=len(old),
        later_votes=len(later),
        heads=trained.heads,
        weak=float(weak[later].mean()),
        strong=float(strong[later].mean()),
        area=curve.area,
        cpt50=curve.least_share(0.5),
        cpt80=curve.least_share(0.8),
        curve=[(float(share), float(np.interp(share, *curve))) for share in shares],
    )


def _read(path: Path) -> tuple[list[str], Floats, Floats]:
    try:
        with path.open(newline="", encoding="utf-8") as lines:
            rows = list(csv.DictReader(lines))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UnusableFile(f"{path} cannot be read as CSV.") from error
    if len(rows) < MIN_ROWS or not all(name in rows[0] for name in COLUMNS):
        raise UnusableFile(f"The file needs the columns {', '.join(COLUMNS)} and {MIN_ROWS} rows.")
    try:
        weak, strong = (np.array([float(row[name]) for row in rows]) for name in COLUMNS[1:])
    except (TypeError, ValueError) as error:
        raise UnusableFile("weak_ok and strong_ok are 0 or 1.") from error
    if not np.isin(weak, (0, 1)).all() or not np.isin(strong, (0, 1)).all():
        raise UnusableFile("weak_ok and strong_ok are 0 or 1.")
    return [row["prompt"] or "" for row in rows], weak, strong
