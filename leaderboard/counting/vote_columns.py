from collections.abc import Mapping, Sequence

import numpy as np
from django.db.models import Model

from leaderboard.counting.columns import Column, Integers
from leaderboard.rating.bradley_terry import Floats, Indices
from leaderboard.rating.style_control import FEATURES, style_features

_SIDES = ("left", "right")
# Columns for read_columns, of rows with a `style`.
STYLE_COLUMNS = {
    f"{side} {feature}": Column(f"COALESCE((style->'{side}'->>'{feature}')::int8, 0)", 8)
    for side in _SIDES
    for feature in FEATURES
}


def style_features_of(rows: Mapping[str, Integers]) -> Floats:
    """Return style features of shape (rows, features) from STYLE_COLUMNS."""
    return style_features(*(np.stack([rows[f"{side} {feature}"] for feature in FEATURES], axis=1) for side in _SIDES))


def indices_of(ids: Integers, among: Sequence[Model]) -> Indices:
    known = [row.pk for row in among]
    index_by_id = np.zeros(max(known, default=0) + 1, dtype=np.int64)
    index_by_id[known] = np.arange(len(known))
    indices: Indices = index_by_id[ids]
    return indices


def contestant_ids(rows: Mapping[str, Integers]) -> list[int]:
    """Return the distinct ids of both sides, in ascending order."""
    ids: list[int] = np.flatnonzero(np.bincount(np.concatenate([rows["left"], rows["right"]]))).tolist()
    return ids
