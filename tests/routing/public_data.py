"""Public data as votes of the router."""

import csv
import io
import lzma
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from routing.learning.evaluation import GapCurve, gap_curve
from routing.learning.grounded import OUTCOMES, Floats, Indices, win_chance
from routing.learning.heads import Trained, train
from routing.learning.votes import TrainingVotes, feature_matrix, label_matrix
from tests.worlds.ratings import reference_votes

FOLDER = Path(__file__).parents[1] / "data" / "routing"
STRONG, WEAK = 1, 2


class TwoModels(NamedTuple):
    """strong, weak: whether the answer is right; features: of the questions."""

    strong: Floats
    weak: Floats
    features: csr_array

    def votes(self, rows: Indices, *, shuffled: np.random.Generator | None = None) -> TrainingVotes:
        better = np.where(self.strong == 1, 2, 3)
        better = np.where(self.strong > self.weak, 0, np.where(self.strong < self.weak, 1, better))[rows]
        if shuffled is not None:
            better = shuffled.permutation(better)
        left, each = np.zeros(len(rows), dtype=np.int64), np.arange(len(rows))
        labels = csr_array((len(rows), 0), dtype=np.float32)
        return TrainingVotes((STRONG, WEAK), left, left + 1, better, each, each, (), labels, self.features[rows])

    def curve(self, trained: Trained, rows: Indices) -> GapCurve:
        router = trained.router
        theta = np.tile(router.strengths[:2, 0], (len(rows), 1))
        if len(router.features):
            theta = theta + self.features[rows] @ router.features[:, :2]
        gain = win_chance(theta[:, 0], theta[:, 1], router.tie_factor)
        return gap_curve(self.strong[rows], self.weak[rows], gain)


@cache
def mmlu() -> TwoModels:
    text = lzma.decompress((FOLDER / "mmlu_two_models.csv.xz").read_bytes()).decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    strong, weak = (np.array([float(row[name]) for row in rows]) for name in ("strong_ok", "weak_ok"))
    return TwoModels(strong, weak, feature_matrix([[row["prompt"]] for row in rows]))


def crowd() -> TrainingVotes:
    """Return llmfao's votes in a random order; the label is the prompt, and the texts are unknown."""
    with reference_votes.table_path("llmfao_crowd").open() as lines:
        rows = list(csv.DictReader(lines))
    names = sorted({row[side] for row in rows for side in ("model_a", "model_b")})
    number = {name: place for place, name in enumerate(names)}
    outcome = {"model_a": "left", "model_b": "right", "tie": "tie", "both_bad": "both_bad"}
    label_names, labels = label_matrix([[row["category"]] for row in rows])
    votes = TrainingVotes(
        tuple(range(len(names))),
        np.array([number[row["model_a"]] for row in rows]),
        np.array([number[row["model_b"]] for row in rows]),
        np.array([OUTCOMES.index(outcome[row["winner"]]) for row in rows]),
        np.unique([row["judge"] for row in rows], return_inverse=True)[1],
        np.arange(len(rows)),
        label_names,
        labels,
        csr_array((len(rows), 4096), dtype=np.float32),
    )
    return votes.subset(np.random.default_rng(3).permutation(len(rows)))


def trained_on_half(seed: int, size: int | None = None) -> tuple[Trained, GapCurve]:
    """Train on half of the questions, or `size` of them, and send the other half."""
    data = mmlu()
    order = np.random.default_rng(seed).permutation(len(data.strong))
    half = len(order) // 2
    trained = train(data.votes(order[: size or half]))
    return trained, data.curve(trained, order[half:])
