"""Votes as arrays, their weights and their folds."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from routing.learning.features import CELLS, prompt_features
from routing.learning.grounded import Floats, Indices

FOLDS = 5
# Folds and bounds are by prompt with fewer people than this.
MIN_VOTERS = 10
# A label with fewer votes has no parameters.
MIN_LABEL_VOTES = 30
MAX_LABELS = 40
_SEED = 20


@dataclass(frozen=True)
class TrainingVotes:
    """Counted votes, oldest first; arrays of shape (votes,).

    models: keys of the models; left, right: indices in it; outcome: index in grounded.OUTCOMES; voter, prompt: numbers,
    equal for equal voters and equal prompts; labels: shape (votes, names); features: shape (votes, CELLS).
    """

    models: tuple[int, ...]
    left: Indices
    right: Indices
    outcome: Indices
    voter: Indices
    prompt: Indices
    label_names: tuple[str, ...]
    labels: csr_array
    features: csr_array

    def __len__(self) -> int:
        return len(self.outcome)

    def subset(self, rows: Indices | slice) -> "TrainingVotes":
        return TrainingVotes(
            self.models,
            self.left[rows],
            self.right[rows],
            self.outcome[rows],
            self.voter[rows],
            self.prompt[rows],
            self.label_names,
            self.labels[rows],
            self.features[rows],
        )

    @property
    def weight(self) -> Floats:
        """1 / √(votes of the voter)."""
        _, number, votes = np.unique(self.voter, return_inverse=True, return_counts=True)
        weights: Floats = 1 / np.sqrt(votes[number])
        return weights

    @property
    def cluster(self) -> Indices:
        """Numbers of the voters, or where there are few of them, of the prompts."""
        by = self.voter if len(np.unique(self.voter)) >= MIN_VOTERS else self.prompt
        return np.unique(by, return_inverse=True)[1]

    def folds(self) -> Indices:
        """Return each vote's fold; votes of one person, or on one prompt, are in the same. The last has the newest."""
        # Prompts that most people sent would join all folds into one: then only the people are kept together.
        cluster = self.cluster
        groups = _joined(cluster, self.prompt)
        if np.bincount(groups).max(initial=0) > len(self) / FOLDS:
            groups = cluster
        votes = np.bincount(groups)
        newest = np.zeros(len(votes), dtype=np.int64)
        np.maximum.at(newest, groups, np.arange(len(self)))
        by_time = np.argsort(-newest)
        fold = np.random.default_rng(_SEED).integers(0, FOLDS - 1, len(votes))
        is_newest = np.cumsum(votes[by_time]) - votes[by_time] < len(self) / FOLDS
        fold[by_time[is_newest]] = FOLDS - 1
        folds: Indices = fold[groups]
        return folds


def _joined(first: Indices, second: Indices) -> Indices:
    """Number the groups of rows that are connected by equal values of either."""
    _, first = np.unique(first, return_inverse=True)
    _, second = np.unique(second, return_inverse=True)
    size = int(first.max(initial=-1)) + 1
    total = size + int(second.max(initial=-1)) + 1
    links = csr_array((np.ones(len(first), dtype=np.int8), (first, size + second)), shape=(total, total))
    groups = connected_components(links, directed=False)[1][first]
    return np.unique(groups, return_inverse=True)[1]


def label_matrix(labels: Iterable[Sequence[str]]) -> tuple[tuple[str, ...], csr_array]:
    """Return the names with enough votes, most frequent first, and shape (votes, names)."""
    rows = [tuple(dict.fromkeys(each)) for each in labels]
    votes = Counter(label for row in rows for label in row)
    frequent = sorted((name for name in votes if votes[name] >= MIN_LABEL_VOTES), key=lambda name: (-votes[name], name))
    names = tuple(frequent[:MAX_LABELS])
    column = {name: number for number, name in enumerate(names)}
    places = [[column[label] for label in row if label in column] for row in rows]
    return names, _matrix(
        [np.array(row, dtype=np.int32) for row in places],
        [np.ones(len(row), dtype=np.float32) for row in places],
        len(names),
    )


def feature_matrix(prompts: Iterable[Sequence[str]]) -> csr_array:
    """Return the features of prompts, each as all user turns in order, shape (votes, CELLS)."""
    cells, values = [], []
    for texts in prompts:
        row = prompt_features(texts)
        cells.append(row[0])
        values.append(row[1])
    return _matrix(cells, values, CELLS)


def _matrix(columns: list[NDArray[np.int32]], values: list[NDArray[np.float32]], width: int) -> csr_array:
    begin = np.zeros(len(columns) + 1, dtype=np.int32)
    np.cumsum([len(row) for row in columns], out=begin[1:])
    if not begin[-1]:
        return empty_matrix(len(columns), width)
    return csr_array((np.concatenate(values), np.concatenate(columns), begin), shape=(len(columns), width))


def empty_matrix(rows: int, width: int) -> csr_array:
    """Return zeros, without labels if the width is 0."""
    values, columns = np.empty(0, dtype=np.float32), np.empty(0, dtype=np.int32)
    return csr_array((values, columns, np.zeros(rows + 1, dtype=np.int32)), shape=(rows, width))
